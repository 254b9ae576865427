// AssemblyScript: the calling thread's scratch memory (packing buffers). Each thread has its own WASM instance, so a global
// of the module is private to the thread. Contents are undefined at the start of a kernel.

/** Byte address of this thread's scratch, 64-byte aligned. */
export let scratch: usize = 0;
/** Its size in bytes. */
export let scratchBytes: usize = 0;

/** Whether 3 × 3 convolutions may go by Winograd's transforms. */
export let winograd: i32 = 1;

export function setScratch(address: usize, bytes: usize, transforms: i32): void {
  scratch = address;
  scratchBytes = bytes;
  winograd = transforms;
}
