import { clip } from '../../messages/text/pretty.ts';

/** Returns to the beginning of the line and removes it: ECMA-48, `EL`. */
const ERASE = '\r\u001B[K';

/** The last line of a terminal, which says what a command is doing and is replaced by the next. */
export interface StatusLine {
  show(text: string): void;
  /** Call it before anything else is written to the terminal. What was shown comes back with the next `show`. */
  hide(): void;
}

/**
 * Texts are those of messages, without control characters.
 * @param write writes to the terminal as it is
 * @param columns of the terminal now; a longer text would wrap, and only its last line could be removed
 */
export function statusLine(write: (text: string) => void, columns: () => number): StatusLine {
  let shown = '';
  return {
    show(text) {
      const line = clip(text, Math.max(1, columns() - 1));
      if (line === shown) return;
      shown = line;
      write(ERASE + line);
    },
    hide() {
      if (shown === '') return;
      shown = '';
      write(ERASE);
    },
  };
}
