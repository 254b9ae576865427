// What Chromium and GTK say on stderr about the machine they find, told apart from what matters: `npm start` leaves these lines out
// and says at the end that it did. Each is harmless and says nothing that a person could act on; everything else passes unchanged.

/** @type {readonly { readonly line: RegExp, readonly about: string }[]} */
export const harmless = [
  // No message bus: on machines without a desktop session. Chromium asks it for power, network and theme.
  { line: /ERROR:(bus|object_proxy)\.cc.*(Failed to connect to the bus|Failed to call method)/, about: 'D-Bus' },
  // GTK's settings cannot be written: without a session bus or in a home that is read-only. None are written here.
  { line: /dconf-(WARNING|CRITICAL) \*\*/, about: 'dconf' },
  // GTK modules of the desktop that are named in its settings and not installed.
  { line: /Gtk-Message: .*Failed to load module/, about: 'GTK' },
  // Video decoding by the GPU, which nothing here uses.
  { line: /^libva (error|info)|ERROR:vaapi_wrapper\.cc/, about: 'video drivers' },
];

/** Splits what arrives into lines, passes on what is not harmless, and counts the rest by what it is about. */
export class QuietLines {
  #rest = '';
  /** What was left out, by what it is about. @type {Map<string, number>} */
  left = new Map();

  /** @param {(text: string) => void} write */
  constructor(write) {
    this.write = write;
  }

  /** @param {string} text */
  add(text) {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#line(`${line}\n`);
  }

  /** What came last without an end of line. */
  end() {
    if (this.#rest !== '') this.#line(this.#rest);
    this.#rest = '';
  }

  #line(line) {
    const found = harmless.find((each) => each.line.test(line));
    if (found === undefined) this.write(line);
    else this.left.set(found.about, (this.left.get(found.about) ?? 0) + 1);
  }
}
