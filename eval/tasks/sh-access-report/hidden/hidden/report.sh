place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
script=$PWD/report.sh
cd "$place" || exit 1

check() { # name expected found
  [ "$2" = "$3" ] && return
  printf '%s\nexpected:\n%s\nfound:\n%s\n' "$1" "$2" "$3"
  exit 1
}
line() { # path status bytes
  printf '1.2.3.4 - - [01/Mar/2026:10:00:00 +0000] "GET %s HTTP/1.1" %s %s "-" "x"\n' "$1" "$2" "$3"
}

{
  line / 200 10
  line '/?a=/x/' 200 5
  line /b 404 7
  line '/b/?q' 500 -
  line /c 599 3000000000
  line /c 200 3000000000
  line /d/e/ 301 1
  line '/q\"uo\"te' 200 2
  printf '::1 - John Doe [01/Mar/2026:10:00:00 +0000] "GET /user HTTP/2" 204 0\r\n'
  printf '\n'
  printf 'h - - [t] "GET /short" 200 1\n'
  printf 'h - - [t] "GET /a b HTTP/1.1" 200 1\n'
  printf 'h - - [t] "GET /x HTTP/1.1" 20 1\n'
  printf 'h - - [t] "GET /x HTTP/1.1" 200 1x\n'
  printf 'h - - t "GET /x HTTP/1.1" 200 1\n'
  printf 'h - - [t] "GET /x HTTP/1.1" 200 1 "r" "a \\"b\\" c"\n'
} > a.log
expected='requests 10
bytes 6000000026
errors 2
skipped 5

2 6000000000 /c
2 15 /
2 7 /b
1 2 /q\"uo\"te
1 1 /d/e'
check 'the whole report' "$expected" "$(sh "$script" a.log)"
check 'standard input' "$expected" "$(sh "$script" < a.log)"
check 'a dash' "$expected" "$(sh "$script" - < a.log)"

check 'a class of status' 'requests 1
bytes 7
errors 0
skipped 5

1 7 /b' "$(sh "$script" -s 4xx a.log)"
check 'one status, joined options, few paths' 'requests 5
bytes 3000000018
errors 0
skipped 5

2 15 /' "$(sh "$script" -n1 -s200 a.log)"

for options in '-n 0 a.log' '-n x a.log' '-n -1 a.log' '-s 40 a.log' '-s 6xx a.log' '-s 4x4 a.log' '-x a.log' '-n'; do
  # The options are words.
  # shellcheck disable=SC2086
  found=$(sh "$script" $options 2> errors < /dev/null)
  check "exit code of $options" 2 $?
  check "output of $options" '' "$found"
  case "$(cat errors)" in 'report: '*) ;; *) check "message of $options" 'report: …' "$(cat errors)" ;; esac
done

line /z 200 1 > 'b c=d.log'
found=$(sh "$script" missing.log 'b c=d.log' 2> errors)
check 'exit code for a missing file' 1 $?
check 'the other file' 'requests 1
bytes 1
errors 0
skipped 0

1 1 /z' "$found"
case "$(cat errors)" in 'report: '*) ;; *) check 'message' 'report: …' "$(cat errors)" ;; esac
cat a.log > -n.log
check 'a file behind --' "$expected" "$(sh "$script" -- -n.log)"

: > empty.log
check 'an empty log' 'requests 0
bytes 0
errors 0
skipped 0' "$(sh "$script" empty.log)"
i=0
while [ $i -lt 30 ]; do line "/p$((i % 7))" 200 1; line "/B$((i % 7))" 200 1; i=$((i + 1)); done > many.log
check 'ties are in byte order' '5 5 /B0
5 5 /B1
5 5 /p0
5 5 /p1
4 4 /B2
4 4 /B3' "$(sh "$script" -n 6 many.log | tail -n +6)"
