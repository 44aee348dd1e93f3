import { setTimeout as sleep } from 'node:timers/promises';

/** One event, as a line for people or a line of JSON for programs. */
interface Line {
  /** The number of the demo's case; 0 for lines before and after the cases. */
  case: number;
  event: string;
  text: string;
  details?: Record<string, unknown>;
}

export interface Teller {
  title(number: number, text: string): Promise<void>;
  /** A person does something. */
  person(number: number, text: string): Promise<void>;
  /** The app was observed to do something. */
  seen(number: number, text: string, details?: Record<string, unknown>): Promise<void>;
  say(text: string, details?: Record<string, unknown>): void;
}

/** The pause after a line, in milliseconds, so that people can follow. */
const READING_MS = 350;

export function createTeller(json: boolean, write: (line: string) => void): Teller {
  const started = Date.now();
  const emit = (line: Line) => write(JSON.stringify({ at_ms: Date.now() - started, ...line }));
  const seconds = () => `${((Date.now() - started) / 1_000).toFixed(1).padStart(5)} s`;
  return {
    async title(number, text) {
      if (json) return emit({ case: number, event: 'case', text });
      write(`\n${number}. ${text}`);
      await sleep(READING_MS);
    },
    async person(number, text) {
      if (json) return emit({ case: number, event: 'person', text });
      write(`   ${seconds()}  › ${text}`);
      await sleep(READING_MS);
    },
    async seen(number, text, details = {}) {
      if (json) return emit({ case: number, event: 'seen', text, details });
      write(`   ${seconds()}  ✔ ${text}`);
      await sleep(READING_MS);
    },
    say(text, details = {}) {
      if (json) return emit({ case: 0, event: 'frame', text, details });
      write(text);
    },
  };
}
