// The Help pages in their order, where the page of a view is, and what is found in them. A page is a Markdown file of `pages/`; each view
// of the window has one of its own name, with a section for each of its tabs (tests/unit/help.test.ts).

import { closest } from '../../../engine/protocol/closest.ts';
import { blocksOf, plainText, sectionId, type Block } from './markdown.ts';
import { settingGroups } from './setting-words.ts';

export interface HelpPage {
  /** As in its address: `#help/run`. */
  readonly id: string;
  readonly title: string;
  readonly blocks: readonly Block[];
}

export interface Found {
  readonly page: HelpPage;
  /** Heading it stands under; null = at the head of the page. */
  readonly section: string | null;
  readonly address: string;
  /** Some words around what was sought. */
  readonly excerpt: string;
}

/** Order in the list; the first is where Help begins. */
// prettier-ignore
export const helpOrder = [
  'start', 'welcome', 'datasets', 'dataset', 'new', 'training', 'run', 'runs', 'queue', 'compare', 'hardware', 'settings', 'about',
  'licences', 'words', 'coming-from', 'keyboard', 'command-line',
] as const;

/** @param texts  Markdown by the ids of pages */
export function readPages(texts: Readonly<Record<string, string>>): readonly HelpPage[] {
  return helpOrder.map((id) => {
    const [title, ...blocks] = blocksOf(texts[id]);
    if (title.kind !== 'heading' || title.level !== 1) throw new Error(`Help: ${id}.md begins with no title.`);
    return { id, title: title.text, blocks };
  });
}

/** Where Help about a view is: the page of its name, and the section of its tab. Help on Help is where it begins. */
export function helpAddress(view: string, tab = ''): string {
  if (view === 'help') return '#help/start';
  return tab === '' ? `#help/${view}` : `#help/${view}/${sectionId(tab)}`;
}

/** Sections in which every word of `sought` stands, those with it in a heading first. */
export function searchPages(pages: readonly HelpPage[], sought: string): readonly Found[] {
  const words = wordsOf(sought);
  if (words.length === 0) return [];
  const found: (Found & { readonly rank: number })[] = [];
  for (const page of pages) {
    for (const { heading, text } of sectionsOf(page)) {
      const title = `${page.title} ${heading ?? ''}`.toLowerCase();
      const body = text.toLowerCase();
      if (!words.every((word) => title.includes(word) || body.includes(word))) continue;
      found.push({
        page,
        section: heading,
        address: helpAddress(page.id, heading ?? ''),
        excerpt: excerptOf(text, words),
        rank: words.filter((word) => (heading ?? page.title).toLowerCase().includes(word)).length,
      });
    }
  }
  return found.sort((one, other) => other.rank - one.rank).slice(0, mostFound);
}

/**
 * What was meant where no section has all words of `sought`: with the nearest ones that stand somewhere, two for one that was written
 * together, and without those that tell least. null = nothing is left that finds something.
 */
export function nearestSearch(pages: readonly HelpPage[], sought: string): string | null {
  const text = pages
    .flatMap((page) => [page.title, ...sectionsOf(page).map(({ heading, text }) => `${heading ?? ''} ${text}`)])
    .join(' ')
    .toLowerCase();
  const known = [...new Set(text.match(/\p{L}{4,}/gu))];
  const nearest = (word: string): string => {
    if (text.includes(word) || word.length < 4) return word;
    const cut = [...word].findIndex((_, at) => known.includes(word.slice(0, at)) && known.includes(word.slice(at)));
    return cut > 0 ? `${word.slice(0, cut)} ${word.slice(cut)}` : (closest(word, known) ?? word);
  };
  let words = wordsOf(wordsOf(sought).map(nearest).join(' '));
  while (words.length > 0 && searchPages(pages, words.join(' ')).length === 0) words = withoutLeast(pages, words);
  return words.length > 0 ? words.join(' ') : null;
}

/** Without the word that stands nowhere, else the short ones, else the most frequent. */
function withoutLeast(pages: readonly HelpPage[], words: readonly string[]): readonly string[] {
  const telling = words.map((word) => {
    const sections = searchPages(pages, word).length;
    return sections === 0 ? -1 : word.length < 4 ? 0 : 1 / sections;
  });
  const least = Math.min(...telling);
  const out = least > 0 ? [telling.indexOf(least)] : telling.flatMap((each, at) => (each === least ? [at] : []));
  return words.filter((_, at) => !out.includes(at));
}

/** What stands between marks; marks alone are a word, as is the key `?`. */
const wordsOf = (sought: string): readonly string[] =>
  sought.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? sought.match(/\S+/g) ?? [];

const mostFound = 40;
/** Characters of an excerpt. */
const excerptLength = 150;

/** A page taken apart at its headings, with all that is shown of settings. */
function sectionsOf({ blocks }: HelpPage): readonly { readonly heading: string | null; readonly text: string }[] {
  const sections: { heading: string | null; text: string }[] = [{ heading: null, text: '' }];
  for (const block of blocks) {
    if (block.kind === 'heading') sections.push({ heading: block.text, text: '' });
    else sections[sections.length - 1].text += `${textOf(block)} `;
  }
  return sections;
}

function textOf(block: Block): string {
  if (block.kind !== 'settings') return plainText(block);
  return (settingGroups(block.table) ?? [])
    .flatMap(({ title, settings }) => [title ?? '', ...settings.map(({ label, help }) => `${label}: ${help}.`)])
    .join(' ');
}

function excerptOf(text: string, words: readonly string[]): string {
  const first = Math.max(0, Math.min(...words.map((word) => text.toLowerCase().indexOf(word)).filter((at) => at >= 0)));
  const from = Number.isFinite(first) ? Math.max(0, text.lastIndexOf(' ', Math.max(0, first - 40)) + 1) : 0;
  const excerpt = text.slice(from, from + excerptLength).trim();
  return `${from > 0 ? '… ' : ''}${excerpt}${from + excerptLength < text.length ? ' …' : ''}`;
}
