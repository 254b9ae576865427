// Compresses what is in a deb better than dpkg-deb can: xz with its filter for the jumps of x86 programs, which takes 4 % off. Every dpkg that
// reads xz reads it. A deb is an archive of `ar`: a line, then members of a header of 60 characters and their bytes, each from an even place on.

import * as fs from 'node:fs';
import { runCommand } from '../setup.mjs';

const magic = '!<arch>\n';
const headerLength = 60;

/**
 * Options of xz for the smallest file. One thread: how it cuts its input into blocks would else hang on the machine. The filter for ARM is too
 * new for some systems.
 */
export const smallest = (arch) => [
  ...['--threads=1', '--check=crc64'],
  ...(arch === 'x64' ? ['--x86'] : []),
  '--lzma2=preset=9,dict=64MiB',
];

/** The members of an archive: where they lie in it. */
function membersOf(descriptor) {
  const { size } = fs.fstatSync(descriptor);
  const header = Buffer.alloc(headerLength);
  const members = [];
  for (let at = magic.length; at + headerLength <= size;) {
    fs.readSync(descriptor, header, 0, headerLength, at);
    const length = Number(header.toString('latin1', 48, 58));
    members.push({
      name: header.toString('latin1', 0, 16).trim(),
      header: Buffer.from(header),
      from: at + headerLength,
      length,
    });
    at += headerLength + length + (length % 2);
  }
  return members;
}

/** @param file  a deb whose members are not compressed; the compressed one takes its place */
export async function compressMembers(file, arch, failure) {
  const packed = `${file}.xz`;
  const target = fs.openSync(packed, 'w');
  const source = fs.openSync(file, 'r');
  const parts = [];
  try {
    fs.writeSync(target, magic);
    for (const { name, header, from, length } of membersOf(source)) {
      const compressed = name.startsWith('debian-binary') ? null : `${file}.${name}.part`;
      if (compressed) parts.push(compressed, `${compressed}.xz`);
      if (compressed) {
        copyRange(source, from, length, compressed);
        await runCommand('xz', ['--force', ...smallest(arch), compressed], { failure });
      }
      const content = compressed ? fs.readFileSync(`${compressed}.xz`) : readRange(source, from, length);
      header.write(`${name}${compressed ? '.xz' : ''}`.padEnd(16), 0, 'latin1');
      header.write(String(content.length).padEnd(10), 48, 'latin1');
      fs.writeSync(target, header);
      writeAll(target, content);
      if (content.length % 2 === 1) fs.writeSync(target, '\n');
    }
  } finally {
    fs.closeSync(source);
    fs.closeSync(target);
    for (const part of parts) fs.rmSync(part, { force: true });
  }
  fs.renameSync(packed, file);
}

function readRange(descriptor, from, length) {
  const bytes = Buffer.alloc(length);
  fs.readSync(descriptor, bytes, 0, length, from);
  return bytes;
}

function copyRange(descriptor, from, length, file) {
  const target = fs.openSync(file, 'w');
  const most = 1 << 24;
  for (let at = 0; at < length; at += most)
    writeAll(target, readRange(descriptor, from + at, Math.min(most, length - at)));
  fs.closeSync(target);
}

function writeAll(descriptor, bytes) {
  for (let at = 0; at < bytes.length;) at += fs.writeSync(descriptor, bytes, at);
}
