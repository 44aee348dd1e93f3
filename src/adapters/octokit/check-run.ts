import type { Annotation, CheckRunContent } from '../../domain/effect/effect.ts';
import { GitHubError } from '../../ports/github.ts';

/** GitHub's limits: https://docs.github.com/en/rest/checks/runs */
const MAX_ANNOTATIONS = 50;
const MAX_TEXT_BYTES = 65_535;
const MAX_TITLE_LENGTH = 255;
const MAX_MESSAGE_BYTES = 64 * 1024;

/** The bodies of the requests for a check run: the first has everything, the others only more annotations. */
export function checkRunBodies(content: CheckRunContent): [object, ...object[]] {
  refuseOversized(content);
  const { title, summary, text, annotations } = content;
  const chunks = Array.from({ length: Math.ceil(annotations.length / MAX_ANNOTATIONS) }, (_, index) =>
    annotations.slice(index * MAX_ANNOTATIONS, (index + 1) * MAX_ANNOTATIONS).map(annotation),
  );
  const [first = [], ...more] = chunks;
  return [
    {
      name: content.name,
      external_id: content.external_id,
      ...content.state,
      output: { title, summary, text, annotations: first },
      actions: content.actions,
    },
    // GitHub keeps the text if none is sent, but requires title and summary every time.
    ...more.map((chunk) => ({ output: { title, summary, annotations: chunk } })),
  ];
}

/**
 * The content as GraphQL takes it; `undefined` if it needs more than one request:
 * https://docs.github.com/en/graphql/reference/input-objects#createcheckruninput
 */
export function checkRunInput(content: CheckRunContent): object | undefined {
  const { title, summary, text, annotations, state, actions } = content;
  if (annotations.length > MAX_ANNOTATIONS || faultsOf(content).length > 0) return undefined;
  return {
    name: content.name,
    externalId: content.external_id,
    ...(state.status === 'completed'
      ? { status: 'COMPLETED', conclusion: state.conclusion.toUpperCase(), completedAt: state.completed_at }
      : { status: 'IN_PROGRESS', startedAt: state.started_at }),
    output: { title, summary, text, annotations: annotations.map(annotationInput) },
    actions,
  };
}

function annotationInput({ path, start_line, end_line, level, title, message }: Annotation): object {
  const location = { startLine: start_line, endLine: end_line };
  return { path, location, annotationLevel: level.toUpperCase(), message, ...(title !== '' && { title }) };
}

function annotation({ path, start_line, end_line, level, title, message }: Annotation): object {
  return { path, start_line, end_line, annotation_level: level, message, ...(title !== '' && { title }) };
}

/** Too large an output would leave the check pending forever, so it is not sent at all. */
function refuseOversized(content: CheckRunContent): void {
  const faults = faultsOf(content);
  if (faults.length > 0) {
    throw new GitHubError('invalid', 0, `The check run was not sent: ${faults.join('; ')}.`);
  }
}

function faultsOf({ title, summary, text, annotations, actions }: CheckRunContent): string[] {
  return [
    title.length > MAX_TITLE_LENGTH && `its title has more than ${MAX_TITLE_LENGTH} characters`,
    Buffer.byteLength(summary) > MAX_TEXT_BYTES && `its summary has more than ${MAX_TEXT_BYTES} bytes`,
    Buffer.byteLength(text) > MAX_TEXT_BYTES && `its text has more than ${MAX_TEXT_BYTES} bytes`,
    annotations.some(({ message }) => Buffer.byteLength(message) > MAX_MESSAGE_BYTES) &&
      `the message of an annotation has more than ${MAX_MESSAGE_BYTES} bytes`,
    annotations.some((one) => one.title.length > MAX_TITLE_LENGTH) &&
      `the title of an annotation has more than ${MAX_TITLE_LENGTH} characters`,
    actions.some(
      (one) => one.label.length > 20 || one.description.length > 40 || one.identifier.length > 20,
    ) && 'a button has more than 20 characters of label or identifier or 40 of description',
  ].filter((fault) => fault !== false);
}
