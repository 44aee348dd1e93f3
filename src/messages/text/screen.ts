import { styleText } from 'node:util';

/** Where a text is shown. */
export interface Screen {
  /** How many columns it has; `undefined` for a pipe or a file, where nothing needs to be clipped. */
  columns: number | undefined;
  colours: boolean;
}

/** A pipe or a file: a search finds each text whole, and without colours. */
export const PLAIN: Screen = { columns: undefined, colours: false };

/** What a colour means. No text means anything by its colour alone. */
export type Meaning = 'good' | 'bad' | 'waiting' | 'heading';

const FORMATS = { good: 'green', bad: 'red', waiting: 'yellow', heading: 'bold' } as const;

export function paint(meaning: Meaning, text: string, { colours }: Screen): string {
  // The program has decided about colours once. Node would decide again for each text.
  return colours && text !== '' ? styleText(FORMATS[meaning], text, { validateStream: false }) : text;
}

/** The marks that lines of an explanation, a check or a list of tests begin with. */
const MEANING_OF_MARK: Readonly<Record<string, Meaning>> = {
  '✔': 'good',
  '✓': 'good',
  '✘': 'bad',
  '✗': 'bad',
  '…': 'waiting',
  '!': 'waiting',
  '?': 'waiting',
  ok: 'good',
  FAILED: 'bad',
};

/** Paints the mark at the beginning of each line. */
export function paintMarks(text: string, screen: Screen): string {
  if (!screen.colours) return text;
  return text.replaceAll(/^( *)(✔|✓|✘|✗|…|!|\?|ok|FAILED)(?= )/gmu, (_, indent: string, mark: string) => {
    const meaning = MEANING_OF_MARK[mark];
    return indent + (meaning ? paint(meaning, mark, screen) : mark);
  });
}
