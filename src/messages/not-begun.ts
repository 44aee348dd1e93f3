import type { OrderedVerb } from '../domain/command/order.ts';
import { code, inline } from './markdown.ts';

/** Why a chain that a command asked for has not begun when its turn came. */
export type NotBegun =
  | { kind: 'overtaken'; verb: OrderedVerb; actor: string }
  /** Somebody pushed in between. */
  | { kind: 'head_moved'; from: string; to: string };

/** The comment that takes back what the answer to the command said: one sentence of Markdown. */
export function notBegun(chain: string, because: NotBegun): string {
  switch (because.kind) {
    case 'overtaken':
      return `${code(chain)} has not begun, because ${newerCommandGiven(because)}.`;
    case 'head_moved':
      return `${code(chain)} has not begun, because the head moved from ${short(because.from)} to ${short(because.to)} meanwhile; send the command again if you mean the new head.`;
  }
}

/** The end of a sentence about a command that comes too late. */
export function newerCommandGiven({ verb, actor }: { verb: OrderedVerb; actor: string }): string {
  return `${inline(actor, 40)} gave the newer command ${code(`/countersign ${verb}`)}`;
}

const short = (sha: string) => code(sha.slice(0, 7));
