import type { State } from '../state.ts';
import { nodeId } from '../views/account.ts';
import { fullName } from '../world.ts';
import type { Selection } from './parse.ts';

/** The request of REST that writes the same as a field of a mutation. */
export interface SameInRest {
  method: 'POST' | 'PATCH';
  path: string;
  body: Readonly<Record<string, unknown>>;
}

/**
 * The mutations that write what REST also writes, by the fields of their payloads. So that both APIs follow the same rules, each
 * is carried out as the request of REST: https://docs.github.com/en/graphql/reference/mutations
 */
export const WRITTEN = {
  createCheckRun: ['checkRun', 'clientMutationId'],
  updateCheckRun: ['checkRun', 'clientMutationId'],
  addComment: ['commentEdge', 'subject', 'timelineEdge', 'clientMutationId'],
  updateIssueComment: ['issueComment', 'clientMutationId'],
} as const;

/** `undefined` if an id belongs to nothing. */
export function sameAsWritten(state: State, { name, args }: Selection): SameInRest | undefined {
  const input = record(args.input);
  switch (name) {
    case 'createCheckRun': {
      const repository = state
        .repositories()
        .find(({ id }) => nodeId('Repository', id) === input.repositoryId);
      if (!repository) return undefined;
      const body = { ...checkRunBody(input), head_sha: input.headSha };
      return { method: 'POST', path: `/repos/${fullName(repository)}/check-runs`, body };
    }
    case 'updateCheckRun': {
      const repository = state
        .repositories()
        .find(({ id }) => nodeId('Repository', id) === input.repositoryId);
      const id = idIn('CheckRun', input.checkRunId);
      if (!repository || id === undefined) return undefined;
      const path = `/repos/${fullName(repository)}/check-runs/${id}`;
      return { method: 'PATCH', path, body: checkRunBody(input) };
    }
    case 'addComment': {
      const pr = state.pullRequests().find(({ pull }) => nodeId('PullRequest', pull.id) === input.subjectId);
      if (!pr) return undefined;
      const path = `/repos/${fullName(pr.repository)}/issues/${pr.number}/comments`;
      return { method: 'POST', path, body: { body: input.body } };
    }
    case 'updateIssueComment': {
      const repository = state
        .repositories()
        .find(({ issues }) =>
          [...issues.values()].some(({ comments }) =>
            comments.some(({ id }) => nodeId('IssueComment', id) === input.id),
          ),
        );
      if (!repository) return undefined;
      const path = `/repos/${fullName(repository)}/issues/comments/${idIn('IssueComment', input.id)}`;
      return { method: 'PATCH', path, body: { body: input.body } };
    }
    default:
      return undefined;
  }
}

/** https://docs.github.com/en/graphql/reference/input-objects#updatecheckruninput */
function checkRunBody(input: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { output, actions } = input;
  const { title, summary, text, annotations } = record(output);
  return {
    ...given({
      name: input.name,
      external_id: input.externalId,
      details_url: input.detailsUrl,
      status: lower(input.status),
      conclusion: lower(input.conclusion),
      started_at: input.startedAt,
      completed_at: input.completedAt,
      actions,
    }),
    ...(output === undefined
      ? {}
      : {
          output: given({
            title,
            summary,
            text,
            annotations: Array.isArray(annotations) ? annotations.map(annotationBody) : undefined,
          }),
        }),
  };
}

/** https://docs.github.com/en/graphql/reference/input-objects#checkannotationdata */
function annotationBody(input: unknown): Record<string, unknown> {
  const { path, location, annotationLevel, message, title, rawDetails } = record(input);
  const { startLine, endLine, startColumn, endColumn } = record(location);
  return given({
    path,
    message,
    title,
    start_line: startLine,
    end_line: endLine,
    start_column: startColumn,
    end_column: endColumn,
    annotation_level: lower(annotationLevel),
    raw_details: rawDetails,
  });
}

function lower(value: unknown): unknown {
  return typeof value === 'string' ? value.toLowerCase() : value;
}

function given(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function idIn(kind: string, id: unknown): number | undefined {
  const [, of, number] = /^(\w+):(\d+)$/.exec(Buffer.from(String(id), 'base64').toString()) ?? [];
  return of === kind ? Number(number) : undefined;
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
