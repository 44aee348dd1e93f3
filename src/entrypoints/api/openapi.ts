import { z } from 'zod';
import { API_SCOPES } from '../../domain/api-token/api-token.ts';
import { API_ABOUT, API_WORDS } from '../../messages/api/words.ts';
import type { Route } from './route.ts';

/**
 * The description of the API, made from the schemas that check its requests and its answers.
 * https://spec.openapis.org/oas/v3.1.0.html, whose schemas are JSON Schema 2020-12
 */
export function describeApi(routes: readonly Route[]): object {
  return {
    openapi: '3.1.0',
    info: { title: 'Countersign', version: '1', description: API_ABOUT.api },
    servers: [{ url: '/api/v1' }],
    security: [{ token: [] }],
    paths: Object.fromEntries(routes.map((route) => [route.at, { get: operation(route) }])),
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: `${API_ABOUT.token} ${API_SCOPES.join(', ')}.`,
        },
      },
      schemas: { Error: schemaOf(errorSchema, 'output') },
      responses: Object.fromEntries(
        ERRORS.map((status) => [
          status,
          {
            description: API_ABOUT.errors[status],
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
          },
        ]),
      ),
    },
  };
}

const ERRORS = ['400', '401', '403', '404', '503'] as const;

const errorSchema = z.strictObject({
  error: z.strictObject({
    code: z.enum(Object.values(API_WORDS).map(({ error }) => error.code)).or(z.string()),
    message: z.string(),
  }),
});

function operation({ id, about, scope, path, query, answer, stamp }: Route): object {
  const error = (status: string) => [status, { $ref: `#/components/responses/${status}` }];
  return {
    operationId: id,
    summary: about,
    description: `${API_ABOUT.scope} \`${scope}\`.${stamp ? ` ${API_ABOUT.stream}` : ''}`,
    parameters: [...parameters(path, 'path'), ...parameters(query, 'query')],
    responses: {
      '200': {
        description: API_ABOUT.found,
        ...(!stamp && { headers: { ETag: { schema: { type: 'string' } } } }),
        content: {
          [stamp ? 'text/event-stream' : 'application/json']: { schema: schemaOf(answer, 'output') },
        },
      },
      ...(!stamp && { '304': { description: API_ABOUT.unchanged } }),
      ...Object.fromEntries(ERRORS.map(error)),
    },
  };
}

function parameters(schema: z.ZodObject, place: 'path' | 'query'): object[] {
  return Object.entries(schema.shape).map(([name, one]) => ({
    name,
    in: place,
    required: place === 'path',
    schema: schemaOf(one, 'input'),
  }));
}

/** Without the dialect, which OpenAPI 3.1 has by itself. */
function schemaOf(schema: z.core.$ZodType, io: 'input' | 'output'): object {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
}
