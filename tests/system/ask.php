<?php
// Makes each request of the JSON list on standard input with PHP's own HTTP functions, and prints
// the answers as a JSON list: status line and headers, the body, and the body as PHP writes it
// after having read it. Bodies travel in base64, so that their bytes stay as they are.

const WRITTEN_AS_READ = JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES
    | JSON_UNESCAPED_LINE_TERMINATORS | JSON_THROW_ON_ERROR;

ini_set('serialize_precision', '-1');

$answers = [];
foreach (json_decode(stream_get_contents(STDIN), true, 512, JSON_THROW_ON_ERROR) as $request) {
    $context = stream_context_create(['http' => $request['http'] + ['ignore_errors' => true]]);
    if ($request['http']['method'] === 'HEAD') {
        $answers[] = ['headers' => get_headers($request['url'], false, $context)];
        continue;
    }
    $body = file_get_contents($request['url'], false, $context);
    $read = json_decode($body, false, 512, JSON_THROW_ON_ERROR);
    $answers[] = [
        'headers' => $http_response_header,
        'body' => base64_encode($body),
        'written_again' => base64_encode(json_encode($read, WRITTEN_AS_READ)),
    ];
}
echo json_encode($answers, JSON_THROW_ON_ERROR);
