/**
 * What a busy machine may add to a deadline of the product, in ms. A test that holds a deadline
 * lets what the deadline cuts off last longer than both.
 */
export const SLACK_MS = 8_000;
