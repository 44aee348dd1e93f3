/** More than this is no answer to a question of ours: the longest has some thousand tokens. */
export const MAX_RESPONSE_BYTES = 1_000_000;

export class ResponseTooLarge extends Error {
  constructor() {
    super(`a response of more than ${MAX_RESPONSE_BYTES} bytes`);
  }
}

/**
 * `fetch` whose responses end, with an error, after `MAX_RESPONSE_BYTES`: counted as they are read and after decompression, since
 * a header can promise anything. It follows no redirect: a key that goes along in a header of the provider's own, such as
 * `x-api-key`, would be carried to wherever the redirect points.
 */
export const boundedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, { ...init, redirect: 'error' });
  if (!response.body) return response;
  let bytes = 0;
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength;
        if (bytes > MAX_RESPONSE_BYTES) controller.error(new ResponseTooLarge());
        else controller.enqueue(chunk);
      },
    }),
  );
  return new Response(counted, {
    status: response.status,
    statusText: response.statusText,
    headers: response.headers,
  });
};
