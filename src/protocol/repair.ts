/**
 * The kinds of repair that Muster makes when the answer of a server does not comply with the protocol. The event that ends
 * the answer contains the number of repairs of each kind. The texts describe the fault of the server.
 */
export const REPAIRS = {
  unknown_event: 'an event of unknown type was ignored',
  unknown_block: 'a content block of unknown type was ignored',
  unknown_delta: 'a delta of unknown type was ignored',
  not_an_event: 'a line that is not an event was ignored',
  raw_line_break: 'JSON contained raw line breaks or control characters',
  number_not_in_json: 'JSON contained NaN or Infinity, which were read as null',
  json_instead_of_stream: 'the server sent one JSON document instead of a stream',
  message_instead_of_delta: 'the server sent a complete message instead of a delta',
  missing_choices: 'a chunk had no choices',
  missing_index: 'a part of a call or block had no index',
  missing_call_id: 'a call had no id',
  missing_call_name: 'a call had no name',
  repeated_part: 'a part was sent twice',
  text_in_block_start: 'the start of a block contained text that belongs in a delta',
  missing_block_start: 'a delta arrived for a block that had not begun',
  missing_block_end: 'a block was not closed',
  arguments_as_object: 'the arguments of a call were an object instead of a text',
  arguments_encoded_twice: 'the arguments of a call were encoded twice',
  missing_finish_reason: 'the answer ended without a finish reason',
  missing_usage: 'the server did not report the usage',
  partial_usage: 'the server reported only a part of the usage',
  broken_connection_after_end: 'the connection broke after the end of the answer',
  content_after_end: 'content arrived after the finish reason',
  error_after_end: 'an error was reported after the end of the answer',
  thinking_in_text: 'the text of the answer contained thinking',
} as const;

/** The kinds of repair that Muster makes when the answer of a server does not comply with the protocol. */
export type Repair = keyof typeof REPAIRS;

/** The number of repairs of each kind. */
export type Repairs = Readonly<Partial<Record<Repair, number>>>;
