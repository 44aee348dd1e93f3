import { unreachable } from '../../core/errors.ts';
import type { Effect } from '../../domain/effect/effect.ts';

/**
 * The classes of writes, most important first. If GitHub's limits leave no capacity for all, the last ones
 * wait.
 */
export const WRITE_CLASSES = ['gate', 'question', 'report', 'status', 'reply', 'reaction'] as const;
export type WriteClass = (typeof WRITE_CLASSES)[number];

/** The class of a write by its kind, and for comments by their key. */
export function writeClassOf({ key, effect }: { key: string; effect: Effect }): WriteClass {
  switch (effect.kind) {
    case 'gate_check':
    case 'merge':
    case 'enqueue':
      return 'gate';
    case 'check_run':
      return 'report';
    case 'comment':
      return effect.shows === 'status' || effect.replaced_by !== undefined ? 'status' : commentClassOf(key);
    case 'review_request':
    case 'thread_reply':
    case 'webhook':
      return 'reply';
    case 'label':
    case 'issue':
    case 'review':
    case 'resolved_finding':
    case 'assignment':
    case 'milestone':
    case 'closing':
    case 'branch_deletion':
    case 'backport':
    case 'dispatch':
    case 'status':
    case 'update_branch':
    case 'release':
      return 'status';
    case 'reaction':
      return 'reaction';
    default:
      return unreachable(effect);
  }
}

/** By the prefix of the key. Comments of chains have other keys. */
function commentClassOf(key: string): WriteClass {
  if (key.startsWith('approval:')) return 'question';
  if (key.startsWith('command:') || key.startsWith('notice:')) return 'reply';
  return 'status';
}
