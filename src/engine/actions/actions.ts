import type { ActionName } from '../../domain/policy/capability.ts';
import type { AnsweredAction, PlainAction } from './action.ts';
import { chain } from './chain.ts';
import { ghAssign } from './gh-assign.ts';
import { ghBackport } from './gh-backport.ts';
import { ghClose } from './gh-close.ts';
import { ghComment } from './gh-comment.ts';
import { ghDispatch } from './gh-dispatch.ts';
import { ghIssue } from './gh-issue.ts';
import { ghLabel } from './gh-label.ts';
import { ghMerge } from './gh-merge.ts';
import { ghMilestone } from './gh-milestone.ts';
import { ghRelease } from './gh-release.ts';
import { ghRequestReviewers } from './gh-request-reviewers.ts';
import { ghReview } from './gh-review.ts';
import { ghStatus } from './gh-status.ts';
import { ghUpdateBranch } from './gh-update-branch.ts';
import { notify } from './notify.ts';
import { shell } from './shell.ts';
import { wait } from './wait.ts';

/** Every declared action. The type requires one for each. */
export const ACTIONS: Readonly<Record<ActionName, PlainAction | AnsweredAction>> = {
  chain,
  'gh-assign': ghAssign,
  'gh-backport': ghBackport,
  'gh-close': ghClose,
  'gh-comment': ghComment,
  'gh-dispatch': ghDispatch,
  'gh-issue': ghIssue,
  'gh-label': ghLabel,
  'gh-merge': ghMerge,
  'gh-milestone': ghMilestone,
  'gh-release': ghRelease,
  'gh-request-reviewers': ghRequestReviewers,
  'gh-review': ghReview,
  'gh-status': ghStatus,
  'gh-update-branch': ghUpdateBranch,
  notify,
  shell,
  wait,
};
