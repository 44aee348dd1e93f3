import { z } from 'zod';
import { makeOutcome } from '../../../domain/outcome/outcome.ts';
import type { OwnKind } from '../../../domain/outcome/own-outcome.ts';
import { CAPABILITIES } from '../../../domain/policy/capability.ts';
import type { StepHandler } from '../../../engine/steps/step.ts';
import { INPUT } from '../../../messages/skills/skill-inputs.ts';
import { staleEntry, staleSummary } from '../../../messages/skills/stale.ts';
import { readInputs, writtenInputs } from '../../runtime/inputs.ts';

const KIND = 'countersign/stale-pull-requests';
const DAY_MS = 86_400_000;
/** An outcome has at most 100,000 characters of data, and a reader has less time. */
const LISTED = 50;

const inputsSchema = z.object({
  days: z
    .int({ error: INPUT.days })
    .min(1, { error: INPUT.days })
    .max(3_650, { error: INPUT.days })
    .default(14),
  drafts: z.boolean({ error: INPUT.drafts }).default(true),
  except_labels: z
    .array(z.string({ error: INPUT.exceptLabels }), { error: INPUT.exceptLabels })
    .max(20, { error: INPUT.exceptLabels })
    .default([]),
});

/**
 * Lists the open pull requests that nobody has touched for some days. Activity is what GitHub counts as an update, so a bot's
 * comment counts, too. Rejected: reading the timeline of each to count only what people do, which takes a request a pull request.
 */
export const stalePullRequests: StepHandler = {
  name: 'stale-pull-requests',
  inputs: writtenInputs(inputsSchema),
  capability: CAPABILITIES['stale-pull-requests'],
  artifactDefaults: [
    { kind: 'outcome', id: 'stale-pull-requests', outcome: KIND, required: true, source: 'skill' },
  ],
  async run(context) {
    const inputs = readInputs(inputsSchema, context);
    if (!inputs.ok) return inputs.result;
    const { days, drafts, except_labels } = inputs.value;
    const moment = new Date(context.clock.now().getTime() - days * DAY_MS);
    const { pullRequests, truncated } = await context.reader.pullRequestsUnchangedSince(context.repo, moment);
    // GitHub does not distinguish labels by case.
    const except = new Set(except_labels.map((label) => label.toLowerCase()));
    const stale = pullRequests.filter(
      ({ draft, labels }) => (drafts || !draft) && !labels.some((label) => except.has(label.toLowerCase())),
    );
    const outcome = makeOutcome<OwnKind>({
      outcome_kind: KIND,
      summary: staleSummary(stale.length, days, truncated),
      // What was not read could be stale.
      passed: stale.length > 0 ? false : truncated ? null : true,
      data: {
        days,
        count: stale.length,
        complete: !truncated,
        pull_requests: stale.slice(0, LISTED).map((pull) => ({
          number: pull.number,
          author: pull.author.login,
          draft: pull.draft,
          updated_at: pull.updatedAt.toISOString(),
          text: staleEntry(pull),
        })),
      },
    });
    return { kind: 'done', outcome };
  },
};
