import type { OrderedVerb } from '../../domain/command/order.ts';
import { code, inline } from '../text/markdown.ts';

/** Why a chain that a command requested did not begin. */
export type NotBegun =
  | { kind: 'overtaken'; verb: OrderedVerb; actor: string }
  /** A push came in between. */
  | { kind: 'head_moved'; from: string; to: string };

/** The comment that corrects the reply to the command: one sentence of Markdown. */
export function notBegun(chain: string, because: NotBegun): string {
  switch (because.kind) {
    case 'overtaken':
      return `${code(chain)} did not start, because ${newerCommandGiven(because)}.`;
    case 'head_moved':
      return `${code(chain)} did not start, because the head moved from ${short(because.from)} to ${short(because.to)}. To start it for the new head, send the command again.`;
  }
}

/** The end of a sentence about a command for which a newer one exists. */
export function newerCommandGiven({ verb, actor }: { verb: OrderedVerb; actor: string }): string {
  return `${inline(actor, 40)} gave the newer command ${code(`/countersign ${verb}`)}`;
}

const short = (sha: string) => code(sha.slice(0, 7));
