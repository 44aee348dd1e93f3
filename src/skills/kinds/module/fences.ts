import { randomBytes } from 'node:crypto';
import type { Json } from '../../../core/canonical.ts';
import { type Fenced, fenced } from '../../templating/fence.ts';
import type { Turn } from './sidecar/protocol.ts';

/**
 * Keeps untrusted texts out of the sidecar: its engine works with placeholders, which are replaced by fenced
 * texts only in the prompt to the model. So the engine never parses such a text as a template, and stores
 * none.
 */
export class Fences {
  readonly #fences: Fenced[] = [];
  readonly #newCode: () => string;

  constructor(newCode: () => string = () => randomBytes(8).toString('hex')) {
    this.#newCode = newCode;
  }

  hide(value: Json): Json {
    const made = fenced({ value }, this.#newCode());
    this.#fences.push(made);
    return made.context.value ?? null;
  }

  /** The turns as one prompt; `undefined` if it exceeds the limit in bytes of UTF-8. */
  prompt(turns: readonly Turn[], maxBytes: number): string | undefined {
    let text: string | undefined = turns.map(rendered).join('\n\n');
    for (const fences of this.#fences) {
      if (text === undefined) return undefined;
      text = fences.fill(text, maxBytes);
    }
    return text !== undefined && Buffer.byteLength(text) <= maxBytes ? text : undefined;
  }
}

/** The engine's instructions mention these roles, which separate examples from the question. */
function rendered(turn: Turn): string {
  switch (turn.role) {
    case 'system':
      return turn.text;
    case 'user':
      return `User:\n${turn.text}`;
    case 'assistant':
      return `Assistant:\n${turn.text}`;
    case 'call':
      return `Assistant called ${turn.tool} with ${turn.arguments}`;
    case 'tool':
      return `What it gave back:\n${turn.text}`;
  }
}
