/** The words of the API, besides what it says of runs. */

export const API_ABOUT = {
  api: 'Runs, artifacts and explanations of a Countersign app, as its pages and its command line show them.',
  token: 'Made with `countersign token create`, or by people on their page in Studio. Scopes:',
  scope: 'Needs the scope',
  stream:
    'Server-sent events, each with the answer as JSON in its data. Send the id of the last one as `Last-Event-ID` to go on after a break. An event `end` says that there is nothing more to see, and `busy` that there are too many streams.',
  found: 'Found.',
  unchanged: 'Unchanged since the answer with the given ETag.',
  errors: {
    '400': 'The query is wrong; the message says where.',
    '401': 'There is no valid token.',
    '403': 'The token lacks the scope.',
    '404': 'There is no such thing, or the token cannot see it.',
    '503': 'GitHub does not say what the owner of the token may see.',
  },
} as const;

export const API_WORDS = {
  noToken: {
    error: {
      code: 'api.no_token',
      message:
        'Send a token as "Authorization: Bearer cst_…". It must not be expired or revoked; "countersign token create" or the page /account makes one.',
    },
  },
  notFound: {
    error: { code: 'api.not_found', message: 'There is no such thing, or this token cannot see it.' },
  },
  noAnswer: {
    error: {
      code: 'api.no_answer',
      message: 'GitHub does not say what the owner of this token may see. Try again in a minute.',
    },
  },
  broken: { error: { code: 'api.broken', message: 'This failed. The server’s log says why.' } },
} as const;

export function missingScope(scope: string) {
  return { error: { code: 'api.missing_scope', message: `This token does not have the scope "${scope}".` } };
}

export function badQuery(sentences: readonly string[]) {
  return { error: { code: 'api.bad_query', message: `The query is wrong: ${sentences.join('; ')}.` } };
}
