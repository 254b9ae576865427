// What the data service does with datasets of pictures: the counterpart of the functions for tables.

import { join } from 'node:path';
import type {
  DatasetInfo,
  DatasetSettings,
  ImageInfo,
  PicturePage,
  PrepareOptions,
  RowPage,
  SkippedFile,
} from '../../protocol/data.ts';
import { TrainyardError } from '../../protocol/errors.ts';
import type { Job } from '../jobs.ts';
import type { Manifest } from '../manifest.ts';
import type { DatasetStore } from '../store.ts';
import { describePictures } from './describe.ts';
import { prepareImages, prepareRows } from './prepare.ts';
import type { Prepared } from '../prepare.ts';
import { picturePage } from './gallery.ts';
import type { GalleryRequest } from './gallery.ts';
import { parseImagePreprocessing } from './recipe.ts';
import { readPictures } from './stored.ts';
import type { StoredPictures } from './stored.ts';

/** Datasets whose list of pictures is kept in memory: those a person moves between. */
const remembered = 4;

/** Reads the image datasets of a store. */
export class ImageDatasets {
  readonly #store: DatasetStore;
  readonly #pictures = new Map<string, Promise<StoredPictures>>();

  constructor(store: DatasetStore) {
    this.#store = store;
  }

  /** Under settings. @throws InputError if they name what is not there. */
  async describe({ info }: Manifest, settings: DatasetSettings): Promise<DatasetInfo> {
    return { ...info, ...describePictures(await this.#read(info.id), settings) };
  }

  /** File and class, as imported. */
  async rows({ info }: Manifest, offset: number, limit: number): Promise<RowPage> {
    const { files, classes, labels } = await this.#read(info.id);
    const start = Math.max(0, Math.floor(offset));
    const end = Math.min(files.length, start + Math.max(0, Math.floor(limit)));
    const rows: (readonly string[])[] = [];
    for (let row = start; row < end; row++) rows.push([files[row] as string, classes[labels[row] as number] as string]);
    return { offset: start, total: files.length, rows };
  }

  async pictures({ info }: Manifest, request: GalleryRequest): Promise<PicturePage> {
    return picturePage(this.#folder(info.id), imageOf(info), await this.#read(info.id), request);
  }

  async skipped({ info }: Manifest): Promise<readonly SkippedFile[]> {
    return (await this.#read(info.id)).skipped;
  }

  /** @throws InputError if there is nothing to learn from or too few pictures for the splits. */
  async prepare({ info }: Manifest, options: PrepareOptions, job: Job): Promise<Prepared> {
    const pictures = await this.#read(info.id);
    const folder = this.#folder(info.id);
    return prepareImages({ folder, name: info.source, image: imageOf(info), pictures, options, job });
  }

  /** @throws InputError if a run with this preprocessing saw pictures of another size. */
  async prepareRows({ info }: Manifest, rows: readonly number[], preprocessing: unknown): Promise<Prepared> {
    const { files } = await this.#read(info.id);
    const recipe = parseImagePreprocessing(preprocessing);
    return prepareRows({ folder: this.#folder(info.id), image: imageOf(info), files, rows, recipe });
  }

  #folder(id: string): string {
    return join(this.#store.folder, id);
  }

  #read(id: string): Promise<StoredPictures> {
    const reading = this.#pictures.get(id) ?? readPictures(this.#folder(id));
    this.#pictures.delete(id);
    this.#pictures.set(id, reading);
    reading.catch(() => this.#pictures.delete(id));
    for (const oldest of [...this.#pictures.keys()].slice(0, -remembered)) this.#pictures.delete(oldest);
    return reading;
  }
}

function imageOf({ id, image }: DatasetInfo): ImageInfo {
  if (image !== undefined) return image;
  throw new TrainyardError('data.not_pictures', `The dataset ${id} is a table: it has no pictures.`);
}
