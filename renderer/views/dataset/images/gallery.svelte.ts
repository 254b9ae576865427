// The gallery of an image dataset: the pictures of a class page by page, those a person has chosen, and their corrected
// classes, which are settings over an import that never changes.

import { SvelteMap } from 'svelte/reactivity';
import type { AppService } from '../../../../engine/protocol/app.ts';
import type { PicturePage } from '../../../../engine/protocol/data.ts';
import { PagedList } from '../../../components/paged.svelte.ts';
import { pixelsOf, type GridPicture } from '../../../components/picture/pictures.ts';
import type { DatasetPage } from '../dataset.svelte.ts';

export class Gallery {
  /** Class shown; null = all. */
  class: string | null = $state(null);
  readonly list: PagedList<GridPicture>;
  /** File of each chosen picture, by row. */
  readonly chosen = new SvelteMap<number, string>();
  readonly #page: DatasetPage;
  #last = 0;

  constructor(page: DatasetPage, service: AppService) {
    this.#page = page;
    page.onrestored = () => void this.#changed();
    this.list = new PagedList(
      async (offset, limit) => {
        const request = { dataset: page.info.id, offset, limit, class: this.class ?? undefined };
        const answer = await service.pictures(request);
        return { total: answer.total, rows: tilesOf(answer, this.class === null) };
      },
      { size: 60 },
    );
  }

  show(name: string | null): void {
    this.class = name;
    this.chosen.clear();
    void this.list.refresh(true);
  }

  /** Adds a picture to the chosen ones or takes it out; with `extend` all from the one before. */
  choose(index: number, extend: boolean): void {
    if (extend) {
      const [from, to] = [Math.min(this.#last, index), Math.max(this.#last, index)];
      for (let place = from; place <= to; place++) this.#add(place);
    } else {
      const picture = this.list.at(index);
      if (picture && this.chosen.has(picture.row)) this.chosen.delete(picture.row);
      else this.#add(index);
    }
    this.#last = index;
  }

  /** Gives the chosen pictures another class. */
  async correct(name: string): Promise<void> {
    const files = [...this.chosen.values()];
    const count = files.length === 1 ? 'a picture' : `${files.length} pictures`;
    await this.#page.change(`the class of ${count}`, (settings) => ({
      ...settings,
      labels: { ...settings.labels, ...Object.fromEntries(files.map((file) => [file, name])) },
    }));
    await this.#changed();
  }

  /** Takes corrections back: of some files, or of all. */
  async restore(files: readonly string[] | null): Promise<void> {
    await this.#page.change('corrected classes', (settings) => {
      const labels = Object.entries(settings.labels ?? {}).filter(([file]) => files !== null && !files.includes(file));
      return { ...settings, labels: Object.fromEntries(labels) };
    });
    await this.#changed();
  }

  #add(index: number): void {
    const picture = this.list.at(index);
    if (picture) this.chosen.set(picture.row, picture.file);
  }

  async #changed(): Promise<void> {
    this.chosen.clear();
    await this.list.refresh();
  }
}

/** The name of the class stands under a picture where several are mixed. */
export function tilesOf(page: PicturePage, mixed: boolean): GridPicture[] {
  return page.pictures.map((picture, index) => {
    const name = picture.file.slice(picture.file.lastIndexOf('/') + 1);
    const size = `${picture.width} × ${picture.height}`;
    return {
      row: picture.row,
      file: picture.file,
      title: mixed ? picture.class : name,
      note: mixed ? name : picture.split ? `${size} · ${picture.split}` : size,
      pixels: pixelsOf(page, index),
      width: page.width,
      height: page.height,
    };
  });
}
