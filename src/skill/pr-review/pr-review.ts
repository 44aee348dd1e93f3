import { CAPABILITIES } from '../../policy/capability.ts';
import { filesOfHead } from '../../session/head-files.ts';
import type { StepHandler } from '../../session/step.ts';
import { withContents } from './contents.ts';
import { reviewFiles } from './review.ts';
import { verdictOf } from './verdict.ts';

/** What the analyzers said, word by word. */
const LOG = 'analyzers.log';
/** 25 times what the largest honest review needs; some analyzers are quadratic, and somebody will make use of it. */
const REVIEW_TIMEOUT_MS = 3 * 60_000;

/** Reviews what the pull request adds and changes with analyzers that need no model and no key. */
export const prReview: StepHandler = {
  name: 'pr-review',
  capability: CAPABILITIES['pr-review'],
  artifactDefaults: [
    { kind: 'outcome', id: 'verdict', outcome: 'review_verdict', required: true, source: 'skill' },
    { kind: 'file', id: 'analyzers-log', path: LOG, required: true, source: 'skill' },
  ],
  cognitiveHints: { produces: ['evidence', 'risks', 'uncertainties', 'decisions'] },
  async run(context) {
    const { files } = await filesOfHead(context);
    const changed = await withContents(context, files);
    const report = await reviewFiles(changed, { timeoutMs: REVIEW_TIMEOUT_MS, signal: context.signal });
    return {
      kind: 'done',
      outcome: verdictOf(report, { headSha: context.state.run.headSha, round: await context.round() }),
      blobs: [{ kind: 'analyzer_output', name: LOG, data: report.log }],
    };
  },
};
