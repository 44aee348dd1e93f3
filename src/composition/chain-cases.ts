import { createAnalyzerPool } from '../analyzers/pool.ts';
import type { BaseConfig } from '../config/config.ts';
import type { ChainCase } from '../domain/chain-case/case-file.ts';
import { type Happening, happensToPullRequest } from '../domain/chain-case/happening.ts';
import type { PlayedCase } from '../messages/cli/chain-test.ts';
import {
  CASE_MAINTAINER,
  CASE_PULL_REQUEST,
  CASE_REPOSITORY,
  chainCaseReader,
} from '../skills/testing/chain-case-reader.ts';
import { givenHandler, type InvalidOutcome } from '../skills/testing/given-outcome.ts';
import { play } from './dry-run.ts';

/**
 * Plays a case of a chain with the real engine: GitHub is the case, no model is asked, and nothing leaves this
 * machine.
 * @param files the files of `.github` in the working folder, by path
 */
export async function playChainCase(
  { model: _, ...config }: BaseConfig,
  chain: string,
  of: ChainCase,
  files: ReadonlyMap<string, string>,
): Promise<PlayedCase> {
  const invalid = new Map<string, InvalidOutcome>();
  const { reader, happen } = chainCaseReader(of, files);
  // No case needs a process before its review begins.
  const analyzers = createAnalyzerPool({ spares: false });
  try {
    const [played] = await play({
      config,
      token: 'none',
      repo: CASE_REPOSITORY,
      chain: { name: chain },
      ...(of.fire && { fire: { actor: CASE_MAINTAINER, inputs: of.fire } }),
      onProgress: () => {},
      ...(of.at !== undefined && { at: new Date(of.at) }),
      gitHub: (real) => ({ ...real, reader: () => reader }),
      subjects: async () => [isWithout(of) ? null : CASE_PULL_REQUEST],
      ...(of.events && { story: { events: eventsOfCase(of.events), actor: CASE_MAINTAINER, happen } }),
      overrides: {
        analyzers,
        replaced(step, handler) {
          const given = of.outcomes?.[step.id];
          return given
            ? givenHandler(step, handler, given, (outcome) => invalid.set(outcome.step, outcome))
            : handler;
        },
      },
    });
    if (!played) throw new Error('a case has one pull request');
    return { played, invalid: [...invalid.values()] };
  } finally {
    await analyzers.stop();
  }
}

function isWithout({ on, events }: ChainCase): boolean {
  return events ? !events.some(happensToPullRequest) : on === 'schedule';
}

/** A pull request is open before anything happens to it. */
function eventsOfCase(events: readonly Happening[]): readonly Happening[] {
  const isOpenedFirst = events[0]?.on === 'pr.opened' || !events.some(happensToPullRequest);
  return isOpenedFirst ? events : [{ on: 'pr.opened' }, ...events];
}
