// Arrow files, Arrow streams and Feather files: how they are recognised. Reading them (arrow-table.ts) takes a large library,
// which is loaded when there is such a file.

import { InputError, TrainyardError } from '../../protocol/errors.ts';
import type { DatasetFormat } from './format.ts';

const fileMagic = 'ARROW1';
/** A stream begins with this and the length of its schema. */
const streamMark = 0xffffffff;

export const arrow: DatasetFormat = {
  name: 'Arrow',
  sniff: ({ bytes }) => isFile(bytes) || isStream(bytes),
  async open(request) {
    const { head } = request;
    try {
      const { openArrow } = await import('./arrow-table.ts');
      return await openArrow(request, isFile(head.bytes));
    } catch (error) {
      request.job.throwIfCancelled();
      if (error instanceof TrainyardError || (error instanceof Error && 'syscall' in error)) throw error;
      const packed = /compress|codec/i.test(String(error));
      throw new InputError(
        'input.arrow',
        packed
          ? `${head.name} is packed in a way that cannot be unpacked here.`
          : `${head.name} is a damaged Arrow file, or was not copied to its end.`,
        packed ? 'Write it without compression, or as Parquet.' : 'Write or copy the file again.',
        { cause: error },
      );
    }
  },
};

function isFile(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, fileMagic.length)).toString('latin1') === fileMagic;
}

function isStream(bytes: Uint8Array): boolean {
  if (bytes.length < 16) return false;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = view.getUint32(4, true);
  return view.getUint32(0, true) === streamMark && length > 0 && length < 2 ** 24 && length % 8 === 0;
}
