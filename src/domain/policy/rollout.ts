import { unreachable } from '../../core/errors.ts';
import type { Effect } from '../effect/effect.ts';

/**
 * How far Countersign is rolled out in a repository, from least to most. `off`: no run begins. `observe`: runs go as far as they
 * can without writing or asking. `comment`: check runs, comments and reviews are written, too. `enforce`: everything is.
 */
export const ROLLOUT_LEVELS = ['off', 'observe', 'comment', 'enforce'] as const;
export type RolloutLevel = (typeof ROLLOUT_LEVELS)[number];

/** The level in force for a repository, and what sets it. */
export interface Rollout {
  level: RolloutLevel;
  /** `unreadable`: the organisation sets a level, and its settings cannot be read. Left out if nothing lowers the level. */
  by?: 'organisation' | 'server' | 'unreadable';
}

/** Where nothing lowers the level. */
export const FULL_ROLLOUT: Rollout = { level: 'enforce' };

export function isLower(one: RolloutLevel, other: RolloutLevel): boolean {
  return ROLLOUT_LEVELS.indexOf(one) < ROLLOUT_LEVELS.indexOf(other);
}

export function lowerOf(one: RolloutLevel, other: RolloutLevel): RolloutLevel {
  return isLower(other, one) ? other : one;
}

/** Such as "rollout is off for this repository, in the settings of the organisation". */
export function rolloutInWords({ level, by }: Rollout): string {
  switch (by) {
    case undefined:
      return `rollout is ${level} for this repository`;
    case 'organisation':
      return `rollout is ${level} for this repository, in the settings of the organisation`;
    case 'server':
      return `rollout is ${level} on this server (\`COUNTERSIGN_ROLLOUT=${level}\`)`;
    case 'unreadable':
      return `rollout counts as ${level}: the settings of the organisation set it, and cannot be read`;
    default:
      return unreachable(by);
  }
}

/** The level that a run began with. */
export function levelOf({ facts }: { facts: { rollout?: RolloutLevel } }): RolloutLevel {
  return facts.rollout ?? 'enforce';
}

/** The rollout for a run: as it began, or as it is now if that is lower. */
export function asBegan(run: Parameters<typeof levelOf>[0], now: Rollout): Rollout {
  const began = levelOf(run);
  return isLower(began, now.level) ? { level: began } : now;
}

/** Whether people may be asked, and what they answer be done. */
export function mayAsk(level: RolloutLevel): boolean {
  return level === 'enforce';
}

/** Whether an effect of this kind may be written. */
export function mayWrite(level: RolloutLevel, kind: Effect['kind']): boolean {
  switch (level) {
    case 'off':
    case 'observe':
      return false;
    case 'comment':
      return isSaid(kind);
    case 'enforce':
      return true;
    default:
      return unreachable(level);
  }
}

/** Whether the effect only says something on the pull request's own page, or changes something and can block or notify others. */
function isSaid(kind: Effect['kind']): boolean {
  switch (kind) {
    case 'check_run':
    case 'comment':
    case 'review':
    case 'resolved_finding':
    case 'thread_reply':
    case 'reaction':
      return true;
    case 'gate_check':
    case 'webhook':
    case 'review_request':
    case 'label':
    case 'issue':
    case 'assignment':
    case 'milestone':
    case 'closing':
    case 'branch_deletion':
    case 'backport':
    case 'release':
    case 'update_branch':
    case 'dispatch':
    case 'status':
    case 'merge':
    case 'enqueue':
      return false;
    default:
      return unreachable(kind);
  }
}
