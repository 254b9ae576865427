// Pages of pictures for a gallery: by class, or by position, as thumbnails.

import { FastResizeFilter, ResizeFit, Transformer } from '@napi-rs/image';
import type { DatasetSettings, ImageInfo, PicturePage } from '../../protocol/data.ts';
import { largestShown } from '../../settings/reading.ts';
import { correctLabels } from './describe.ts';
import { PixelReader } from './stored.ts';
import type { StoredPictures } from './stored.ts';

const defaultSize = 96;
const defaultLimit = 60;
const mostPictures = 1000;

export interface GalleryRequest {
  readonly settings?: DatasetSettings;
  readonly offset?: number;
  readonly limit?: number;
  readonly class?: string;
  readonly rows?: readonly number[];
  readonly size?: number;
}

/** Pictures of a dataset whose folder is given. Positions that are not in it are passed over. */
export async function picturePage(
  folder: string,
  image: ImageInfo,
  pictures: StoredPictures,
  request: GalleryRequest,
): Promise<PicturePage> {
  const { classes, labels } = correctLabels(pictures, request.settings ?? {});
  const wanted = request.class === undefined ? null : classes.indexOf(request.class);
  const asked = request.rows?.filter((row) => Number.isInteger(row) && row >= 0 && row < pictures.files.length);
  const chosen = (asked ?? [...labels.keys()]).filter((row) => wanted === null || labels[row] === wanted);
  const offset = Math.max(0, Math.floor(request.offset ?? 0));
  const limit = Math.min(mostPictures, Math.max(0, Math.floor(request.limit ?? defaultLimit)));
  const rows = chosen.slice(offset, offset + limit);

  const { width, height, channels } = image;
  const most = Math.min(largestShown, Math.max(1, Math.floor(request.size ?? defaultSize)));
  const scale = Math.min(1, most / Math.max(width, height));
  const small = { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
  const pixels = new Uint8Array(rows.length * small.width * small.height * 4);
  const reader = await PixelReader.open(folder, channels * width * height);
  try {
    // One at a time: a page of large pictures takes no more memory than its thumbnails.
    for (const [index, row] of rows.entries()) {
      const planes = await reader.read(Uint32Array.of(row));
      pixels.set(thumbnail(planes, image, small), index * small.width * small.height * 4);
    }
  } finally {
    await reader.close();
  }
  return {
    offset,
    total: chosen.length,
    pictures: rows.map((row) => ({
      row,
      file: pictures.files[row] as string,
      class: classes[labels[row] as number] as string,
      split: pictures.splits?.[row] ?? null,
      width: pictures.widths[row] as number,
      height: pictures.heights[row] as number,
    })),
    ...small,
    pixels,
  };
}

/** A picture's planes as RGBA, made smaller. */
function thumbnail(
  planes: Uint8Array,
  { width, height, channels }: ImageInfo,
  small: { readonly width: number; readonly height: number },
): Uint8Array {
  const size = width * height;
  const step = channels === 3 ? size : 0;
  const rgba = new Uint8Array(size * 4);
  for (let pixel = 0; pixel < size; pixel++) {
    rgba[4 * pixel] = planes[pixel] as number;
    rgba[4 * pixel + 1] = planes[pixel + step] as number;
    rgba[4 * pixel + 2] = planes[pixel + 2 * step] as number;
    rgba[4 * pixel + 3] = 255;
  }
  if (small.width === width && small.height === height) return rgba;
  return Transformer.fromRgbaPixels(rgba, width, height)
    .fastResize({ ...small, filter: FastResizeFilter.Bilinear, fit: ResizeFit.Fill })
    .rawPixelsSync();
}
