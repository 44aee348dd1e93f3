import { setTimeout as sleep } from 'node:timers/promises';

/** What happened, as one line for a person or one line of JSON for a program. */
export interface Told {
  /** Which of the demo's cases it belongs to; 0 for what frames them. */
  case: number;
  event: string;
  text: string;
  details?: Record<string, unknown>;
}

export interface Teller {
  title(number: number, text: string): Promise<void>;
  /** Somebody does something. */
  person(number: number, text: string): Promise<void>;
  /** The app was seen to have done something. */
  seen(number: number, text: string, details?: Record<string, unknown>): Promise<void>;
  say(text: string, details?: Record<string, unknown>): void;
}

/** How long a line stands before the next, in milliseconds, so that a person can follow. */
const READING_MS = 350;

export function createTeller(json: boolean, write: (line: string) => void): Teller {
  const started = Date.now();
  const emit = (told: Told) => write(JSON.stringify({ at_ms: Date.now() - started, ...told }));
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
