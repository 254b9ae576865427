// How a Linux desktop sees the app: the menu entry, the icons, the types of files it opens. All of it is made from what
// electron-builder.yml says, which makes the same for the packages it builds itself, and from electron/icon.svg.

import * as fs from 'node:fs';
import path from 'node:path';
import { Transformer } from '@napi-rs/image';
import { load } from 'js-yaml';
import { root } from '../setup.mjs';

/** Sizes of the freedesktop icon theme, in pixels; larger ones take the SVG itself. */
export const iconSizes = [16, 22, 24, 32, 48, 64, 96, 128, 256, 512];

/** electron-builder.yml, read. */
export function builderSettings() {
  return load(fs.readFileSync(path.join(root, 'electron-builder.yml'), 'utf8'));
}

/** Menu entry (freedesktop Desktop Entry 1.5). */
export function desktopEntry({ program }) {
  const { productName, linux, fileAssociations = [] } = builderSettings();
  const types = fileAssociations.map(({ mimeType }) => mimeType);
  const entry = {
    Type: 'Application',
    Name: productName,
    Comment: linux.synopsis,
    Exec: `${program}${types.length > 0 ? ' %F' : ''}`,
    Icon: linux.executableName,
    Terminal: 'false',
    Categories: `${linux.category};`,
    ...linux.desktop?.entry,
    ...(types.length > 0 ? { MimeType: `${types.join(';')};` } : {}),
  };
  return ['[Desktop Entry]', ...Object.entries(entry).map(([key, value]) => `${key}=${value}`), ''].join('\n');
}

/** What files of our own are called and known by (freedesktop shared-mime-info); the others' types every system has. */
export function mimeTypes() {
  const own = (builderSettings().fileAssociations ?? []).filter(({ role }) => role === 'Editor');
  const types = own.map(
    ({ ext, name, mimeType }) =>
      `  <mime-type type="${mimeType}">\n    <comment>${name}</comment>\n    <glob pattern="*.${ext}"/>\n  </mime-type>\n`,
  );
  const open = '<mime-info xmlns="http://www.freedesktop.org/standards/shared-mime-info">';
  return `<?xml version="1.0" encoding="UTF-8"?>\n${open}\n${types.join('')}</mime-info>\n`;
}

/** The icon as a PNG of so many pixels. */
export async function iconPng(size) {
  const svg = fs.readFileSync(path.join(root, 'electron', 'icon.svg'));
  return Transformer.fromSvg(svg).resize(size, size).png();
}
