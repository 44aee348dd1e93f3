import { unreachable } from '../../core/errors.ts';
import type { Effect } from '../../domain/effect/effect.ts';

/** What a write is worth, the most worth first: when GitHub's limits leave no room for all, the last waits first. */
export const WRITE_CLASSES = ['gate', 'question', 'report', 'status', 'reply', 'reaction'] as const;
export type WriteClass = (typeof WRITE_CLASSES)[number];

/** The class of a write, from what it is and, for a comment, from the key that says which comment it is. */
export function writeClassOf({ key, effect }: { key: string; effect: Effect }): WriteClass {
  switch (effect.kind) {
    case 'gate_check':
    case 'merge':
    case 'enqueue':
      return 'gate';
    case 'check_run':
      return 'report';
    case 'comment':
      return commentClassOf(key);
    case 'label':
      return 'status';
    case 'reaction':
      return 'reaction';
    default:
      return unreachable(effect);
  }
}

/** By the beginning of the key; comments that a chain writes have others. */
function commentClassOf(key: string): WriteClass {
  if (key.startsWith('approval:')) return 'question';
  if (key.startsWith('command:')) return 'reply';
  return 'status';
}
