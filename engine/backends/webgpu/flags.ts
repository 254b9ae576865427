// WebGPU's flag values, as its specification fixes them (§5.1, §5.3): the globals that hold them exist in windows only, not
// in Node.

export const bufferUsage = {
  mapRead: 0x1,
  copySource: 0x4,
  copyTarget: 0x8,
  uniform: 0x40,
  storage: 0x80,
  queryResolve: 0x200,
} as const;
export const mapModeRead = 0x1;
export const computeStage = 0x4;
