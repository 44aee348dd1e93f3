import type { EffectRow } from '../../domain/effect/effect.ts';
import type { WriteCause } from '../../domain/effect/write-cause.ts';
import type { RunOfEffect } from '../../ports/storage.ts';

export const NO_CAUSE: WriteCause = { person: null, pullRequest: null };

/** Whom and what a write counts for, as far as its row and its run say it. */
export function causeOf({
  row,
  run,
}: {
  row: EffectRow;
  run: RunOfEffect | undefined;
}): WriteCause | undefined {
  return run ? causeOfRun(run) : causeOfGate(row);
}

/**
 * A run's writes count for the person who fired it, otherwise for the author of its pull request, issue or
 * push.
 */
function causeOfRun({ repositoryId, pullRequest, event, facts }: RunOfEffect): WriteCause {
  const { author } = facts.trigger;
  const byHand = event.kind === 'command.issued' || event.kind === 'manual.fired';
  return {
    person: byHand ? event.actor : typeof author === 'string' ? author : null,
    pullRequest: pullRequest === null ? null : `${repositoryId}#${pullRequest}`,
  };
}

/** A gate check without a run counts for its pull request; that of a merge group counts for nobody. */
function causeOfGate({ effect }: EffectRow): WriteCause | undefined {
  if (effect.kind !== 'gate_check' || effect.pull_request === null) return undefined;
  return { person: null, pullRequest: `${effect.repository_id}#${effect.pull_request}` };
}
