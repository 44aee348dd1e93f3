import { describe, expect, it } from 'vitest';
import { explain, explainText } from '../../src/domain/run/explain.ts';
import { runJson, runJsonSchema, whyJson, whyJsonSchema } from '../../src/messages/cli/run-json.ts';
import { NOWHERE } from './builders.ts';
import { SCENES } from './scenes.ts';

describe('the public JSON', () => {
  it.each(Object.entries(SCENES))('of a run fits its schema: %s', (_, { state, approval }) => {
    const json = JSON.parse(JSON.stringify(runJson(state, NOWHERE)));
    expect(runJsonSchema.parse(json)).toEqual(json);
    const tree = explain(state, approval);
    expect(explainText(whyJsonSchema.parse(whyJson(tree)))).toEqual(explainText(tree));
  });

  it('of a run has exactly the members of the schema', () => {
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
      'rollout',
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
});
