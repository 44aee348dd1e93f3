/** The words of the API, besides what it says of runs. */

export const API_ABOUT = {
  api: 'Runs, artifacts and explanations of a Countersign app, as its pages and its command line show them.',
  token: 'Made with `countersign token create`. Scopes:',
  scope: 'Needs the scope',
  found: 'Found.',
  unchanged: 'Unchanged since the answer with the given ETag.',
  errors: {
    '400': 'The query is wrong; the message says where.',
    '401': 'There is no valid token.',
    '403': 'The token lacks the scope.',
    '404': 'There is no such thing, or the token cannot see it.',
  },
} as const;

export const API_WORDS = {
  noToken: {
    error: {
      code: 'api.no_token',
      message:
        'Send a token as "Authorization: Bearer cst_…". It must not be expired or revoked; "countersign token create" makes one.',
    },
  },
  notFound: {
    error: { code: 'api.not_found', message: 'There is no such thing, or this token cannot see it.' },
  },
  broken: { error: { code: 'api.broken', message: 'This failed. The server’s log says why.' } },
} as const;

export function missingScope(scope: string) {
  return { error: { code: 'api.missing_scope', message: `This token does not have the scope "${scope}".` } };
}

export function badQuery(sentences: readonly string[]) {
  return { error: { code: 'api.bad_query', message: `The query is wrong: ${sentences.join('; ')}.` } };
}
