import { Environment } from 'minijinja-js';
import { type AdmittedFile, admit } from '../../../../src/analyzers/admit.ts';
import type { ChangedFile } from '../../../../src/analyzers/changed-file.ts';
import { parsePatch } from '../../../../src/core/hunks.ts';
import type { Finding } from '../../../../src/domain/outcome/finding.ts';
import type { RememberedFinding } from '../../../../src/domain/outcome/model-memory.ts';
import { createModel } from '../../../../src/engine/models/ask.ts';
import type { Ledger } from '../../../../src/engine/models/ledger.ts';
import type { Message, Model } from '../../../../src/ports/model.ts';
import type { Render } from '../../../../src/skills/templating/render.ts';
import { diffTexts } from '../../../support/github/git/patch.ts';

/** A file of a pull request as GitHub lists it, from its old and new text. */
export function changed(path: string, before: string, after: string): ChangedFile {
  const { patch, additions, deletions } = diffTexts(before, after);
  const status = before === '' ? 'added' : 'modified';
  return { path, status, patch, changes: additions + deletions, content: Buffer.from(after) };
}

/** The same as the reviewer gets it. */
export function admitted(...files: ChangedFile[]): AdmittedFile[] {
  return admit(files).files;
}

export function finding(more: Partial<Finding> = {}): RememberedFinding['finding'] {
  return {
    severity: 'high',
    category: 'correctness',
    line: 2,
    description: 'It is wrong.',
    suggestion: '',
    rule: 'model/correctness',
    ...more,
    file: more.file ?? 'src/a.ts',
  };
}

export function modelFinding(
  of: string,
  offset: number | null,
  more: Partial<Finding> = {},
): RememberedFinding {
  const { line, ...rest } = finding(more);
  return { of, offset, finding: offset === null ? rest : { ...rest, line: line ?? 1 } };
}

export const noMask = (text: string): string => text;

/**
 * In this process: the real renderer is another process, which is slow and has its own tests
 * (test/skills/templating/render.test.ts).
 */
export const renderHere: Render = async (template, context) => {
  const environment = new Environment();
  environment.undefinedBehavior = 'strict';
  return { ok: true, text: environment.renderStr(template, context) };
};

const FREE: Ledger = { reserve: async () => ({ ok: true, id: 1 }), settle: async () => null };

/** A model that gives the scripted answer to each prompt; the prompts are kept. */
export function scripted(answer: (prompt: string, asked: number) => unknown): {
  model: Model;
  prompts: string[];
} {
  const prompts: string[] = [];
  const model = createModel({
    ledger: FREE,
    wait: async () => {},
    provider: {
      name: { provider: 'openai-compatible', model: 'scripted' },
      async call({ messages }) {
        const prompt = lastOf(messages);
        prompts.push(prompt);
        const modelFinding = answer(prompt, prompts.length);
        const text = typeof modelFinding === 'string' ? modelFinding : JSON.stringify(modelFinding);
        return { kind: 'text', text, tokens: { input: 1, output: 1 } };
      },
    },
  });
  return { model, prompts };
}

function lastOf(messages: readonly Message[]): string {
  return messages.at(-1)?.content ?? '';
}

/** The anchor with which a prompt shows the first added line that contains the text. */
export function anchorIn(prompt: string, text: string): string {
  const line = prompt.split('\n').find((row) => row.includes(` + `) && row.includes(text)) ?? '';
  return /^\s*(\d+#[0-9a-f]+)/.exec(line)?.[1] ?? 'none';
}

/** The numbers of the lines that a change adds. */
export function addedLines({ patch = '' }: ChangedFile): number[] {
  return [...parsePatch(patch).added.keys()];
}
