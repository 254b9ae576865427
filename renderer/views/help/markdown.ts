// The part of Markdown that Help pages are written in, read into plain data: headings, paragraphs, lists, bold, code, links into the
// window, and words in braces that are made elsewhere. What comes of it is shown by components, so no text ever becomes HTML.
//
//   {keys ID}       keys of a command        {settings TABLE}   all settings of a table, a block of its own
//   {command ID}    its title and keys       {setting TABLE.NAME}   what the form calls it        {tour}   a button that starts the tour
//   {sketch NAME}   where what stands in a view, drawn from the lines that follow it: `3: Columns / Preview | 1: Target / Split` is a row of two
//                   columns, three quarters and one quarter wide, of two parts each

type Named<Kind> = { readonly kind: Kind; readonly name: string };
type Said<Kind> = { readonly kind: Kind; readonly text: string };

export type Inline =
  | Said<'text'>
  | Said<'bold'>
  | Said<'code'>
  | { readonly kind: 'link'; readonly text: string; readonly address: string }
  | Named<'keys'>
  | Named<'command'>
  | Named<'setting'>;

export type Block =
  | { readonly kind: 'heading'; readonly level: 1 | 2; readonly id: string; readonly text: string }
  | { readonly kind: 'paragraph'; readonly content: readonly Inline[] }
  | { readonly kind: 'list'; readonly numbered: boolean; readonly items: readonly (readonly Inline[])[] }
  | { readonly kind: 'settings'; readonly table: string }
  | { readonly kind: 'tour' }
  | { readonly kind: 'sketch'; readonly name: string; readonly rows: readonly (readonly SketchColumn[])[] };

export interface SketchColumn {
  /** Of the width of its row. */
  readonly share: number;
  /** Titles of the parts in it, from top to bottom. */
  readonly parts: readonly string[];
}

/** `Time and cost` → `time-and-cost`: how a section is named in an address. */
export const sectionId = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');

const inlines = /\*\*(.+?)\*\*|`(.+?)`|\[(.+?)\]\((#[^)\s]*)\)|\{(keys|command|setting) ([\w.-]+)\}/g;

/** Throws where braces or brackets are left that mean nothing: a page is to be mended, not shown so. */
export function inlineOf(text: string): readonly Inline[] {
  const parts: Inline[] = [];
  let at = 0;
  const plain = (to: number): void => {
    const between = text.slice(at, to);
    if (/[{}[\]]|\*\*|\]\(/.test(between)) throw new Error(`Help: “${between}” is no Markdown of these pages.`);
    if (between !== '') parts.push({ kind: 'text', text: between });
  };
  for (const found of text.matchAll(inlines)) {
    plain(found.index);
    at = found.index + found[0].length;
    const [, bold, code, label, address, kind, name] = found;
    if (bold !== undefined) parts.push({ kind: 'bold', text: bold });
    else if (code !== undefined) parts.push({ kind: 'code', text: code });
    else if (address !== undefined) parts.push({ kind: 'link', text: label, address });
    else parts.push({ kind: kind as 'keys' | 'command' | 'setting', name });
  }
  plain(text.length);
  return parts;
}

export function blocksOf(page: string): readonly Block[] {
  return page
    .split(/\n{2,}/)
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map(blockOf);
}

function blockOf(part: string): Block {
  const heading = /^(##?) (.+)$/.exec(part);
  if (heading) {
    const [, marks, text] = heading;
    return { kind: 'heading', level: marks.length as 1 | 2, id: sectionId(text), text };
  }
  const settings = /^\{settings (\w+)\}$/.exec(part);
  if (settings) return { kind: 'settings', table: settings[1] };
  if (part === '{tour}') return { kind: 'tour' };
  const lines = part.split('\n');
  const sketch = /^\{sketch ([\w -]+)\}$/.exec(lines[0]);
  if (sketch) return { kind: 'sketch', name: sketch[1], rows: lines.slice(1).map(sketchRow) };
  const mark = /^(?:- |(\d+)\. )/;
  if (lines.every((line) => mark.test(line)))
    return {
      kind: 'list',
      numbered: mark.exec(lines[0])?.[1] !== undefined,
      items: lines.map((line) => inlineOf(line.replace(mark, ''))),
    };
  return { kind: 'paragraph', content: inlineOf(lines.join(' ')) };
}

function sketchRow(line: string): readonly SketchColumn[] {
  return line.split(' | ').map((column) => {
    const [, share, parts] = /^(\d): (.+)$/.exec(column) ?? [];
    if (parts === undefined) throw new Error(`Help: “${column}” is no column of a sketch.`);
    return { share: Number(share), parts: parts.split(' / ') };
  });
}

/** The words of a block, as they are searched. */
export function plainText(block: Block): string {
  const words = (content: readonly Inline[]): string =>
    content.map((part) => ('text' in part ? part.text : '')).join('');
  switch (block.kind) {
    case 'heading':
      return block.text;
    case 'paragraph':
      return words(block.content);
    case 'list':
      return block.items.map(words).join(' ');
    case 'settings':
    case 'tour':
    case 'sketch':
      return '';
    default:
      return block satisfies never;
  }
}
