import { beforeEach, describe, expect, it } from 'vitest';
import type { NewSkillTrace, SkillCall } from '../../src/ports/skill-traces.ts';
import type { Tx } from '../../src/ports/storage.ts';
import { type OpenDatabase, useDatabase } from '../support/database.ts';
import { at, runState, session } from '../support/rows.ts';
import { storedArtifact, storedSkill } from './skills.contract.ts';

const CHOICE = {
  kind: 'skill',
  skill: 'naming',
  id: 'skl_1',
  artifact: 'prompts/review.md',
  by: 'match',
  because: 'path src/**',
} as const;

function call(id: string, over: Partial<SkillCall> = {}): SkillCall {
  return {
    id,
    installationId: 7,
    repositoryId: 70,
    repository: 'acme/rocket',
    pullRequest: 3,
    commentId: 900,
    askedBy: 'mia',
    question: 'are the names good?',
    decision: null,
    createdAt: at(0),
    finishedAt: null,
    ...over,
  };
}

function trace(over: Partial<NewSkillTrace> = {}): NewSkillTrace {
  return {
    of: { runId: 'run1', sessionId: 'ses1' },
    skill: 'naming',
    skillId: 'skl_1',
    artifact: 'prompts/review.md',
    kind: 'prompt_template',
    inputPath: 'traces/run1/in',
    outputPath: null,
    error: 'No answer.',
    startedAt: at(1),
    completedAt: at(3),
    tokens: { input: 4, output: 2 },
    model: 'openai/gpt-5',
    cost: 7,
    assertionsRun: 2,
    assertionsPassed: 1,
    ...over,
  };
}

/** What was chosen, asked and executed of skills. */
export function skillTracesContract(open: OpenDatabase): void {
  const db = useDatabase(open);
  const write = <T>(work: (tx: Tx) => Promise<T>) => db.storage.transaction(work);

  beforeEach(() =>
    write(async (tx) => {
      await tx.runs.insert(runState('run1'));
      await tx.runs.insertSession(session('ses1', 'run1-inv0'));
    }),
  );

  describe('the skill that a session chose', () => {
    it('is stored with the session and its step, and chosen once', async () => {
      await write(async (tx) => {
        const state = runState('run1');
        const [first, ...rest] = state.invocations;
        if (!first) throw new Error('a run has steps');
        await tx.runs.save(
          { ...state, invocations: [{ ...first, sessionId: 'ses1' }, ...rest] },
          { kind: 'app' },
        );
        await tx.runs.chooseSkill('ses1', CHOICE);
        await tx.runs.saveSession(session('ses1', 'run1-inv0', { status: 'waiting' }), { kind: 'app' });
      });
      expect((await db.storage.read.runs.getSession('ses1'))?.session.choice).toEqual(CHOICE);
      expect((await db.storage.read.runs.load('run1'))?.invocations[0]?.choice).toEqual(CHOICE);
      const other = { ...CHOICE, skill: 'other' };
      await expect(write((tx) => tx.runs.chooseSkill('ses1', other))).rejects.toThrow(/no row ses1/);
    });
  });

  describe('calls of skills', () => {
    it('are read as they were stored, with their decisions', async () => {
      await write((tx) => tx.skillCalls.insert(call('ask_1')));
      expect(await db.storage.read.skillCalls.ofComment(900)).toEqual(call('ask_1'));
      const after = { decision: CHOICE, finishedAt: at(9) };
      await write((tx) => tx.skillCalls.save({ id: 'ask_1', ...after }));
      expect(await db.storage.read.skillCalls.get('ask_1')).toEqual(call('ask_1', after));
      expect(await db.storage.read.skillCalls.ofComment(901)).toBeUndefined();
    });

    it('are unique per comment', async () => {
      await write((tx) => tx.skillCalls.insert(call('ask_1')));
      await expect(write((tx) => tx.skillCalls.insert(call('ask_2')))).rejects.toThrow();
    });
  });

  describe('traces', () => {
    it('are read as they were stored, of a run and of a call', async () => {
      const ofCall = trace({
        of: { callId: 'ask_1' },
        tokens: null,
        model: null,
        cost: null,
        error: null,
        outputPath: 'o',
      });
      await write(async (tx) => {
        await tx.skillCalls.insert(call('ask_1'));
        await tx.skillTraces.insert(trace());
        await tx.skillTraces.insert(ofCall);
      });
      expect(await db.storage.read.skillTraces.ofRun('run1')).toEqual([{ id: 1, ...trace() }]);
      expect(await db.storage.read.skillTraces.page({ after: 1, limit: 5 })).toEqual([{ id: 2, ...ofCall }]);
    });

    it('are found by skill and by time, page by page', async () => {
      await write(async (tx) => {
        await tx.skillTraces.insert(trace());
        await tx.skillTraces.insert(trace({ skill: 'other' }));
        await tx.skillTraces.insert(trace({ startedAt: at(60), completedAt: at(61) }));
      });
      const { skillTraces } = db.storage.read;
      const idsOf = async (page: Parameters<typeof skillTraces.page>[0]) =>
        (await skillTraces.page(page)).map(({ id }) => id);
      expect(await idsOf({ after: 0, limit: 5, skill: 'naming' })).toEqual([1, 3]);
      expect(await idsOf({ after: 0, limit: 1, skill: 'naming' })).toEqual([1]);
      expect(await idsOf({ after: 0, limit: 5, since: at(30) })).toEqual([3]);
    });

    it('are old when their run, or their call, ended long ago', async () => {
      await write(async (tx) => {
        await tx.runs.insert(runState('run2', { status: 'failed', finishedAt: at(10) }));
        await tx.runs.insertSession(session('ses2', 'run2-inv0'));
        await tx.skillCalls.insert(call('ask_1', { finishedAt: at(10) }));
        await tx.skillCalls.insert(call('ask_2', { commentId: 901 }));
        await tx.skillTraces.insert(trace());
        await tx.skillTraces.insert(trace({ of: { runId: 'run2', sessionId: 'ses2' } }));
        await tx.skillTraces.insert(trace({ of: { callId: 'ask_1' } }));
        await tx.skillTraces.insert(trace({ of: { callId: 'ask_2' } }));
      });
      const old = async (overBefore: Date) =>
        (await db.storage.read.skillTraces.page({ after: 0, limit: 9, overBefore })).map(({ id }) => id);
      expect(await old(at(11))).toEqual([2, 3]);
      expect(await old(at(10))).toEqual([]);
      await write((tx) => tx.skillTraces.remove([2, 3]));
      expect(await old(at(11))).toEqual([]);
    });
  });

  describe('outlines of skills', () => {
    it('name every artifact and contain only the text of SKILL.md', async () => {
      const description = storedArtifact({ id: 'd', kind: 'description', name: 'SKILL.md', content: '# It' });
      const prompt = storedArtifact({ id: 'p', ordinal: 1, modelVariant: 'gpt' });
      await write((tx) => tx.skills.keep(storedSkill('skl_1', { artifacts: [description, prompt] })));
      expect(await db.storage.read.skills.outlines(['skl_1', 'skl_2'])).toEqual([
        {
          id: 'skl_1',
          name: 'naming',
          description: '# It',
          artifacts: [
            { kind: 'description', name: 'SKILL.md', modelVariant: null },
            { kind: 'prompt_template', name: 'review.md', modelVariant: 'gpt' },
          ],
        },
      ]);
      expect(await db.storage.read.skills.outlines([])).toEqual([]);
    });
  });
}
