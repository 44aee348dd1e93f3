/** In bytes. The longest answer to one of our questions has a few thousand tokens. */
export const MAX_RESPONSE_BYTES = 1_000_000;

export class ResponseTooLarge extends Error {
  constructor() {
    super(`a response of more than ${MAX_RESPONSE_BYTES} bytes`);
  }
}

/**
 * `fetch` with a limit on the response. Bytes are counted after decompression while they are read, because a
 * header can claim anything. It follows no redirects: a key in a header of the provider's own, such as
 * `x-api-key`, would be sent to the new address.
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
