import { Ajv, type DefinedError, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import { closed } from './closed.ts';
import { type Operation, readDescription, type Schema } from './description.ts';
import { sentences } from './sentence.ts';

/** A request as it leaves the app. */
export interface ObservedRequest {
  method: string;
  /** From the API's root, with the query and still percent-encoded: `/repos/o/r/pulls?state=open`. */
  path: string;
  /** The parsed JSON; `undefined` or `''` when none was sent. */
  body: unknown;
}

/** The errors of a request, one sentence each; an empty list if there are none. */
export type RequestValidator = (request: ObservedRequest) => string[];

interface Route {
  method: string;
  template: string;
  pattern: RegExp;
  operation: Operation;
}

/**
 * Validates requests against GitHub's own OpenAPI description, more strictly than GitHub does: query keys and body keys that it
 * does not describe are errors, because GitHub ignores them and the mistake would stay hidden. An operation that is not in the
 * extract is an error too.
 */
export function createRequestValidator(): RequestValidator {
  const routes = toRoutes();
  const ajv = createAjv();
  const compiled = new Map<Route, ValidateFunction>();

  return ({ method, path, body }) => {
    const [pathname = '', ...queries] = path.split('?');
    // OpenAPI does not describe GraphQL; a schema of our own reads its answers.
    if (method.toUpperCase() === 'POST' && pathname === '/graphql') return [];
    const route = routes.find((one) => one.method === method.toUpperCase() && one.pattern.test(pathname));
    if (!route) {
      return [
        `GitHub's description has no ${method.toUpperCase()} ${pathname}, or it is not in the extract.`,
      ];
    }
    const name = `${route.method} ${route.template}`;
    const values = pathValues(route, pathname);
    if (!values) return [`${name}: the path ${pathname} is not percent-encoded correctly.`];

    const query = new URLSearchParams(queries.join('?'));
    const sent = body !== undefined && body !== '';
    const diagnostics = repeatedKeys(query);
    if (sent && !route.operation.requestBody) diagnostics.push('it takes no body, but one was sent.');

    let check = compiled.get(route);
    if (!check) {
      check = ajv.compile(requestSchema(route.operation));
      compiled.set(route, check);
    }
    const request = {
      path: typed(route.operation, 'path', Object.entries(values)),
      query: typed(route.operation, 'query', query),
      ...(sent && { body }),
    };
    // ajv types its errors loosely so that custom keywords fit in; there are none here.
    if (!check(request)) diagnostics.push(...sentences((check.errors ?? []) as DefinedError[]));
    return diagnostics.map((diagnostic) => `${name}: ${diagnostic}`);
  };
}

function createAjv(): Ajv {
  // Unknown keywords and formats throw (ajv's default). strictTypes is off for GitHub's alternatives, which name
  // members without repeating `type: object`.
  const ajv = new Ajv({ strictTypes: false, allErrors: true, verbose: true });
  formats.default(ajv);
  // GitHub's own: a repository's full name.
  ajv.addFormat('repo.nwo', /^[^/]+\/[^/]+$/);
  return ajv;
}

/** Routes with more fixed text come first, so that `commits/{ref}/status` wins over `commits/{ref}`. */
function toRoutes(): Route[] {
  const routes = Object.entries(readDescription().paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(
      ([method, operation]): Route => ({
        method: method.toUpperCase(),
        template,
        pattern: toPattern(template, operation),
        operation,
      }),
    ),
  );
  const fixedText = (route: Route) => route.template.replaceAll(/\{\w+\}/g, '').length;
  return routes.sort((a, b) => fixedText(b) - fixedText(a));
}

function toPattern(template: string, operation: Operation): RegExp {
  const spansSlashes = (name: string) =>
    operation.parameters.some((parameter) => parameter.name === name && parameter['x-multi-segment']);
  const source = template
    .split('/')
    .map((part) => {
      const name = /^\{(\w+)\}$/.exec(part)?.[1];
      if (name === undefined) return part.replaceAll(/[^\w-]/g, '\\$&');
      return `(?<${name}>${spansSlashes(name) ? '.+' : '[^/]+'})`;
    })
    .join('/');
  return new RegExp(`^${source}$`);
}

/** The decoded path parameters; `undefined` if a percent sign is not followed by valid UTF-8 in hex. */
function pathValues(route: Route, pathname: string): Record<string, string> | undefined {
  const groups = route.pattern.exec(pathname)?.groups ?? {};
  try {
    return Object.fromEntries(
      Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value)]),
    );
  } catch {
    return undefined;
  }
}

function repeatedKeys(query: URLSearchParams): string[] {
  return [...new Set(query.keys())]
    .filter((key) => query.getAll(key).length > 1)
    .map((key) => `query.${key} is given more than once.`);
}

/** One schema for `{path, query, body}`, so that every error names its place in the same way. */
function requestSchema(operation: Operation): Schema {
  const body = operation.requestBody;
  return {
    type: 'object',
    properties: {
      path: parametersSchema(operation, 'path'),
      query: parametersSchema(operation, 'query'),
      ...(body && { body: closed(body.content['application/json'].schema) }),
    },
    required: body?.required ? ['body'] : [],
  };
}

function parametersSchema(operation: Operation, where: 'path' | 'query'): Schema {
  const parameters = operation.parameters.filter((parameter) => parameter.in === where);
  return {
    type: 'object',
    properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
    additionalProperties: false,
  };
}

/**
 * Parameters arrive as text. Those described as integers or booleans are converted if they are written as one. ajv's own coercion
 * was rejected: it also accepts `0x10`, `1e3` and `null`.
 */
function typed(operation: Operation, where: 'path' | 'query', entries: Iterable<[string, string]>): Schema {
  const types = new Map(
    operation.parameters.filter((one) => one.in === where).map(({ name, schema }) => [name, schema.type]),
  );
  return Object.fromEntries([...entries].map(([name, text]) => [name, read(text, types.get(name))]));
}

function read(text: string, type: Schema[string] | undefined): string | number | boolean {
  if (type === 'integer' && /^-?\d+$/.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}
