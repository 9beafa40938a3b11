/**
 * The kinds of repair that Muster makes to an answer whose server does not keep to its protocol. Each is
 * counted in the event that ends the answer; the text says what the server did.
 */
export const REPAIRS = {
  unknown_event: 'an event of unknown type was ignored',
  unknown_block: 'a content block of unknown type was ignored',
  unknown_delta: 'a delta of unknown type was ignored',
  not_an_event: 'a line that is no event was ignored',
  raw_line_break: 'JSON held raw line breaks or control characters',
  number_not_in_json: 'JSON held NaN or Infinity, read as null',
  json_instead_of_stream: 'one JSON document came in place of a stream',
  message_instead_of_delta: 'a whole message came in place of a delta',
  missing_choices: 'a chunk had no choices',
  missing_index: 'a part of a call or block had no index',
  missing_call_id: 'a call had no id',
  missing_call_name: 'a call had no name',
  repeated_part: 'a part came twice',
  text_in_block_start: 'a block began with text that belongs into its deltas',
  missing_block_start: 'a delta came for a block that had not begun',
  missing_block_end: 'a block was not closed',
  arguments_as_object: 'the arguments of a call were an object and no text',
  arguments_encoded_twice: 'the arguments of a call were encoded twice',
  missing_finish_reason: 'the answer ended without a finish reason',
  missing_usage: 'the server did not say what the answer used',
  partial_usage: 'the server said only in part what the answer used',
  broken_connection_after_end: 'the connection broke after the end of the answer',
  content_after_end: 'content came after the finish reason',
  error_after_end: 'an error was reported after the end of the answer',
  thinking_in_text: 'thinking stood in the text of the answer',
} as const;

export type Repair = keyof typeof REPAIRS;

/** The number of times that each repair was made. */
export type Repairs = Readonly<Partial<Record<Repair, number>>>;
