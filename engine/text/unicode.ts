// Unicode categories as the tokenizers package has them, so that ids are the same: its tables are older than those of the engine that
// runs this, each of another year. Lists are of code points, in hexadecimal, that are younger than its table (measured over all code
// points with tokenizers 0.23; tests/golden/make_tokenizers.py compares).

/** Unicode 17: letters, marks and digits that its regular expressions do not know. */
const youngInExpressions =
  '88f c5c cdc 1acf-1add 1ae0-1aeb a7ce-a7cf a7d2 a7d4 a7f1 10940-10959 10ec5-10ec7 10efa-10efb 11b60-11b67 11db0-11ddb ' +
  '11de0-11de9 16ea0-16eb8 16ebb-16ed3 16ff2-16ff6 187f8-187ff 18d09-18d1e 18d80-18df2 1e6c0-1e6de 1e6e0-1e6f5 ' +
  '1e6fe-1e6ff 2b73a-2b73f 2cea2-2cead 323b0-33479';

/** Unicode 9 and later: punctuation, … */
const youngPunctuation =
  '61d 9fd a76 c77 c84 1b4e-1b4f 1b7d-1b7f 2e43-2e4f 2e52-2e5d 10d6e 10ead 10ed0 10f55-10f59 10f86-10f89 113d4-113d5 ' +
  '113d7-113d8 1144b-1144f 1145a-1145b 1145d 11660-1166c 116b9 1183b 11944-11946 119e2 11a3f-11a46 11a9a-11a9c ' +
  '11a9e-11aa2 11b00-11b09 11be1 11c41-11c45 11c70-11c71 11ef7-11ef8 11f43-11f4f 11fff 12ff1-12ff2 16d6d-16d6f ' +
  '16e97-16e9a 16fe2 1e5ff 1e95e-1e95f';

/** … marks without a width, … */
const youngNonspacing =
  '7fd 897-89f 8ca-8e1 9fe afa-aff b55 c04 c3c d00 d3b-d3c d81 eba ece 180f 1885-1886 1abf-1add 1ae0-1aeb 1df6-1dfb a82c ' +
  'a8c5 a8ff a9bd 10d24-10d27 10d69-10d6d 10eab-10eac 10efa-10eff 10f46-10f50 10f82-10f85 11070 11073-11074 110c2 111c9 ' +
  '111cf 1123e 11241 1133b 113bb-113c0 113ce 113d0 113d2 113e1-113e2 11438-1143f 11442-11444 11446 1145e 1182f-11837 ' +
  '11839-1183a 1193b-1193c 1193e 11943 119d4-119d7 119da-119db 119e0 11a01-11a0a 11a33-11a38 11a3b-11a3e 11a47 ' +
  '11a51-11a56 11a59-11a5b 11a8a-11a96 11a98-11a99 11b60 11b62-11b64 11b66 11c30-11c36 11c38-11c3d 11c3f 11c92-11ca7 ' +
  '11caa-11cb0 11cb2-11cb3 11cb5-11cb6 11d31-11d36 11d3a 11d3c-11d3d 11d3f-11d45 11d47 11d90-11d91 11d95 11d97 ' +
  '11ef3-11ef4 11f00-11f01 11f36-11f3a 11f40 11f42 11f5a 13440 13447-13455 1611e-16129 1612d-1612f 16f4f 16fe4 ' +
  '1cf00-1cf2d 1cf30-1cf46 1e000-1e006 1e008-1e018 1e01b-1e021 1e023-1e024 1e026-1e02a 1e08f 1e130-1e136 1e2ae ' +
  '1e2ec-1e2ef 1e4ec-1e4ef 1e5ee-1e5ef 1e6e3 1e6e6 1e6ee-1e6ef 1e6f5 1e944-1e94a';

/** … all marks, … */
const youngMarks =
  '7fd 897-89f 8ca-8d3 9fe afa-aff b55 c04 c3c cf3 d00 d3b-d3c d81 eba ece 1715 180f 1abf-1add 1ae0-1aeb 1cf7 1df6-1dfa ' +
  'a82c a8ff 10d24-10d27 10d69-10d6d 10eab-10eac 10efa-10eff 10f46-10f50 10f82-10f85 11070 11073-11074 110c2 11145-11146 ' +
  '111c9 111ce-111cf 11241 1133b 113b8-113c0 113c2 113c5 113c7-113ca 113cc-113d0 113d2 113e1-113e2 1145e 1182c-1183a ' +
  '11930-11935 11937-11938 1193b-1193e 11940 11942-11943 119d1-119d7 119da-119e0 119e4 11a01-11a0a 11a33-11a39 ' +
  '11a3b-11a3e 11a47 11a51-11a5b 11a8a-11a99 11b60-11b67 11d31-11d36 11d3a 11d3c-11d3d 11d3f-11d45 11d47 11d8a-11d8e ' +
  '11d90-11d91 11d93-11d97 11ef3-11ef6 11f00-11f01 11f03 11f34-11f3a 11f3e-11f42 11f5a 13440 13447-13455 1611e-1612f ' +
  '16f4f 16f7f-16f87 16fe4 16ff0-16ff1 1cf00-1cf2d 1cf30-1cf46 1e08f 1e130-1e136 1e2ae 1e2ec-1e2ef 1e4ec-1e4ef ' +
  '1e5ee-1e5ef 1e6e3 1e6e6 1e6ee-1e6ef 1e6f5';

/** … and format characters. */
const youngFormats = '890-891 8e2 110cd 13430-1343f';

/** Characters that normal forms leave as and where they are: their decompositions and the classes of these marks are unknown to its tables. */
const youngInNormalForms =
  '7fd 897-89f 8ca-8d3 9fe c3c d3b-d3c eba 1715 1abf-1add 1ae0-1aeb 1df6-1dfa 32ff a7f1-a7f4 a82c ab69 105c9 105e4 ' +
  '10781-10785 10787-107b0 107b2-107ba 10d24-10d27 10d69-10d6d 10eab-10eac 10efa-10efb 10efd-10eff 10f46-10f50 ' +
  '10f82-10f85 11070 1133b 11383 11385 1138e 11391 113c5 113c7-113c8 113ce-113d0 1145e 11839-1183a 11938 ' +
  '1193d-1193e 11943 119e0 11a34 11a47 11a99 11d42 11d44-11d45 11d97 11f41-11f42 16121-16128 1612f 16d68-16d6a ' +
  '16ff0-16ff1 1ccd6-1ccf9 1e030-1e06d 1e08f 1e130-1e136 1e2ae 1e2ec-1e2ef 1e4ec-1e4ef 1e5ee-1e5ef 1e6e3 1e6e6 ' +
  '1e6ee-1e6ef 1e6f5 1f16c 1fbf0-1fbf9';

/** Code points in the notation of a class of a regular expression. */
const listed = (codes: string): string => codes.replace(/[0-9a-f]+/g, (code) => `\\u{${code}}`).replaceAll(' ', '');

/** Classes of regular expressions with the flag v, without their brackets around. */
export const classes = {
  space: String.raw`\p{White_Space}`,
  letter: String.raw`[\p{L}--[${listed(youngInExpressions)}]]`,
  number: String.raw`[\p{N}--[${listed(youngInExpressions)}]]`,
  /** What \w stands for. */
  word: String.raw`[[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]--[${listed(youngInExpressions)}]]`,
  /** Punctuation of any script, and all signs of ASCII that are neither letters nor digits. */
  punctuation: String.raw`[[\p{P}$+<=>^\`\|~\u166d\u{111c9}]--[${listed(youngPunctuation)}]]`,
  nonspacing: String.raw`[[\p{Mn}\u1734\u{1171e}]--[${listed(youngNonspacing)}]]`,
  mark: String.raw`[[\p{M}\u1cf2\u1cf3]--[${listed(youngMarks)}]]`,
  /** Control and format characters and those of private use, but for tab and line ends. */
  control: String.raw`[[\p{Cc}\p{Cf}\p{Co}]--[\t\n\r${listed(youngFormats)}]]`,
} as const;

const untouched = new RegExp(`([${listed(youngInNormalForms)}])`, 'v');

/** A normal form, but that characters which are too young stay as and where they are. */
export function normalForm(text: string, form: 'NFC' | 'NFD' | 'NFKC' | 'NFKD'): string {
  if (!untouched.test(text)) return text.normalize(form);
  const parts = text.split(untouched);
  return parts.map((part, place) => (place % 2 === 1 ? part : part.normalize(form))).join('');
}

const isSpace = new RegExp(classes.space, 'v');

/** Where the white space in front of a place begins, `from` at the earliest; an expression with $ takes the square of the time over spaces elsewhere. */
export function spaceStart(text: string, place: number, from = 0): number {
  let start = place;
  while (start > from && isSpace.test(text[start - 1])) start--;
  return start;
}

const spaceInFront = new RegExp(`[${classes.space}]*`, 'vy');

/** Where the white space behind a place ends. */
export function spaceEnd(text: string, place: number): number {
  spaceInFront.lastIndex = place;
  return place + (spaceInFront.exec(text)?.[0].length ?? 0);
}

/** A text as a part of a regular expression that finds it, with the flag u or v. A hyphen stands for itself: escaped it would be an error. */
export const literally = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
