// The picture formats that are read, and the ways a picture can lie.

export const formats = ['avif', 'bmp', 'gif', 'jpeg', 'png', 'pnm', 'tiff', 'webp'] as const;
export type PictureFormat = (typeof formats)[number];

/** As EXIF has it: 1 upright … 8; from 5 on, width and height change places. */
export type Orientation = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8;
