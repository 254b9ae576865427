// The picture formats that are read.

export const formats = ['avif', 'bmp', 'gif', 'jpeg', 'png', 'pnm', 'tiff', 'webp'] as const;
export type PictureFormat = (typeof formats)[number];
