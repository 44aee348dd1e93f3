import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../src/core/canonical.ts';
import { explain, explainText } from '../../src/run/explain.ts';
import {
  artifactJson,
  artifactJsonSchema,
  runJson,
  runJsonSchema,
  whyJson,
  whyJsonSchema,
} from '../../src/words/run-json.ts';
import { at, mergedOutcome, NOWHERE } from './builders.ts';
import { SCENES } from './scenes.ts';

describe('the public JSON', () => {
  it.each(Object.entries(SCENES))('of a run is what its schema promises: %s', (_, { state, approval }) => {
    const json = JSON.parse(JSON.stringify(runJson(state, NOWHERE)));
    expect(runJsonSchema.parse(json)).toEqual(json);
    const tree = explain(state, approval);
    expect(explainText(whyJsonSchema.parse(whyJson(tree)))).toEqual(explainText(tree));
  });

  it('of a run has exactly the members of the promise', () => {
    const { state } = SCENES.queued ?? { state: undefined };
    expect(state && Object.keys(runJson(state, NOWHERE))).toEqual([
      'id',
      'chain',
      'status',
      'reason',
      'repository',
      'pull_request',
      'head_sha',
      'created_at',
      'updated_at',
      'delivery',
      'steps',
    ]);
    expect(state && Object.keys(runJson(state, NOWHERE).steps[0] ?? {})).toEqual([
      'id',
      'index',
      'status',
      'reason',
      'outcome',
      'choice',
      'expected_artifacts',
      'artifact_verification',
      'gates',
    ]);
  });

  const row = {
    id: 'art_1',
    runId: 'run_01',
    invocationId: 'inv_merge',
    sessionId: 'ses_1',
    createdAt: at('12:00'),
    kind: 'action_result',
    name: 'outcome',
  };

  it('of an outcome’s artifact holds the outcome itself', () => {
    const json = artifactJson({ ...row, content: canonicalJson(mergedOutcome), filePath: null });
    expect(artifactJsonSchema.parse(json)).toEqual(json);
    expect(json.content).toEqual(mergedOutcome);
  });

  it('of a blob holds where it is kept', () => {
    expect(artifactJson({ ...row, kind: 'log', content: null, filePath: 'run_01/log' })).toMatchObject({
      content: null,
      file_path: 'run_01/log',
      created_at: '2025-03-01T12:00:00.000Z',
    });
  });
});
