import { unreachable } from '../../core/errors.ts';
import type { Effect } from '../../domain/effect/effect.ts';

/** Something that would be written, for a person who reads it before it happens. */
export interface Writing {
  /** What it would be and where, as plain text: `comment on acme/shop#7`. */
  target: string;
  /** Its title as plain text, where it has one. */
  title?: string;
  /** Its text as GitHub would show it, in Markdown. */
  body?: string;
}

/** What an effect would write. Every kind is here, so that a dry run can show whatever an action requests. */
export function describeEffect(effect: Effect): Writing {
  const repository = `${effect.owner}/${effect.repo}`;
  switch (effect.kind) {
    case 'check_run':
    case 'gate_check': {
      const { name, head_sha, title, summary, text } = effect.content;
      const body = [summary, text].filter((part) => part !== '').join('\n\n');
      return { target: `check run ${name} on ${repository}@${head_sha.slice(0, 7)}`, title, body };
    }
    case 'comment':
      return { target: `comment on ${repository}#${effect.issue}`, body: effect.body };
    case 'webhook':
      return { target: `message to the webhook ${effect.webhook}`, body: effect.text };
    case 'review_request': {
      const names = [...effect.people, ...effect.teams.map((slug) => `${effect.owner}/${slug}`)];
      return { target: `review request on ${repository}#${effect.pull_request}`, title: names.join(', ') };
    }
    case 'reaction':
      return { target: `reaction ${effect.content} to comment ${effect.comment_id} of ${repository}` };
    case 'label':
      return { target: `labels on ${repository}#${effect.issue}`, title: effect.labels.join(', ') };
    case 'merge':
      return {
        target: `merge of ${repository}#${effect.pull_request} into ${effect.base_ref} (${effect.method})`,
      };
    case 'enqueue':
      return { target: `${repository}#${effect.pull_request} in the merge queue of ${effect.base_ref}` };
    default:
      return unreachable(effect);
  }
}
