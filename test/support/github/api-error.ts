/** An error in GitHub's words. Routes and operations throw it, and the server turns it into an answer. */
export class ApiError extends Error {
  readonly status: number;
  readonly errors: readonly (object | string)[] | undefined;

  constructor(status: number, message: string, errors?: readonly (object | string)[]) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.errors = errors;
  }
}

export function notFound(): ApiError {
  return new ApiError(404, 'Not Found');
}

/** A 422 that names one field, as GitHub's validation does. */
export function invalid(resource: string, field: string, message: string): ApiError {
  return new ApiError(422, 'Validation Failed', [{ resource, field, code: 'custom', message }]);
}

/** A 422 of the endpoints that GitHub validates against a schema. */
export function malformed(message: string): ApiError {
  return new ApiError(422, `Invalid request.\n\n${message}`);
}
