import { unreachable } from '../../core/errors.ts';
import { redact, redactMarkdown } from '../../core/redact/redact.ts';
import type { CheckRunContent, Effect } from '../../domain/effect/effect.ts';

/**
 * The desired effect with all secrets removed from texts that people read. Everything that appears on GitHub
 * passes through here, before it is stored, hashed or sent. Ids, commits and branches stay, because GitHub
 * and the gate depend on them.
 */
export function redactedEffect(effect: Effect): Effect {
  switch (effect.kind) {
    case 'check_run':
      return { ...effect, content: redactedCheckRun(effect.content) };
    case 'gate_check':
      return { ...effect, content: { ...redactedCheckRun(effect.content), state: effect.content.state } };
    case 'comment': {
      // The marker must be equal here and in the body, because the comment is found by it.
      const marker = redact(effect.marker);
      const body = effect.body.split(effect.marker).map(redactMarkdown).join(marker);
      const { answered } = effect;
      return {
        ...effect,
        marker,
        body,
        ...(answered !== undefined && { answered: redactMarkdown(answered) }),
      };
    }
    case 'webhook':
      return {
        ...effect,
        text: redact(effect.text),
        ...(effect.data && { data: Object.fromEntries(Object.entries(effect.data).map(redactedField)) }),
      };
    case 'issue':
      return {
        ...effect,
        title: redact(effect.title),
        body: redactMarkdown(effect.body),
        labels: effect.labels.map(redact),
      };
    case 'review':
      return {
        ...effect,
        body: redactMarkdown(effect.body),
        body_alone: redactMarkdown(effect.body_alone),
        comments: effect.comments.map((comment) => ({ ...comment, body: redactMarkdown(comment.body) })),
      };
    case 'resolved_finding':
    case 'thread_reply':
      return { ...effect, body: redactMarkdown(effect.body) };
    case 'label':
      return { ...effect, labels: effect.labels.map(redact) };
    case 'backport':
      return {
        ...effect,
        message: redact(effect.message),
        title: redact(effect.title),
        body: redactMarkdown(effect.body),
      };
    case 'release':
      return { ...effect, name: redact(effect.name), body: redactMarkdown(effect.body) };
    case 'status':
      return { ...effect, description: redact(effect.description) };
    case 'dispatch': {
      const inputs = Object.entries(effect.inputs).map(([name, value]) => [name, redact(value)]);
      return { ...effect, inputs: Object.fromEntries(inputs) };
    }
    case 'update_branch':
    case 'review_request':
    case 'assignment':
    case 'milestone':
    case 'closing':
    case 'reaction':
    case 'branch_deletion':
    case 'merge':
    case 'enqueue':
      return effect;
    default:
      return unreachable(effect);
  }
}

function redactedField<T>([key, value]: [string, T | string]): [string, T | string] {
  return [key, typeof value === 'string' ? redact(value) : value];
}

function redactedCheckRun(content: CheckRunContent): CheckRunContent {
  return {
    ...content,
    title: redact(content.title),
    summary: redactMarkdown(content.summary),
    text: redactMarkdown(content.text),
    annotations: content.annotations.map((annotation) => ({
      ...annotation,
      path: redact(annotation.path),
      title: redact(annotation.title),
      message: redact(annotation.message),
    })),
  };
}
