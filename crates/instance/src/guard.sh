# Runs a server and ends it when standard input ends. Only mindful holds the other end of that pipe, so it closes at
# every end of mindful. The line `stop` before the end requests an orderly stop. That may take the time to write the
# cache, but not if mindful ends before the server. The line `now` ends the server at once.
# Arguments: the signal of an orderly stop, the signal after its timeout, and the command line.
#
# Standard output is a locked file. Guard and server keep it open while they live, so that it stays locked. It receives
# the server's process id, and the exit status of that process.
exec 3<&0 </dev/null 4>&1 >&2

# When mindful dies while a process of this group is stopped, the system hangs up the whole group.
trap '' HUP

signal=$1
later=$2
shift 2
"$@" 3<&- &
server=$!
echo "$server" >&4

# Sends a signal for so many seconds, then the later one, then KILL.
end() {
    signal=$1
    patience=$2
    waited=0
    # Repeated, because a server that has only just been started does not listen yet.
    while kill "-$signal" "$server" 2>/dev/null; do
        # A process that somebody stopped hears nothing but KILL, and children that are stopped outlive even that.
        children=
        { read -r children <"/proc/$server/task/$server/children"; } 2>/dev/null
        for stopped in "$server" $children; do
            kill -CONT "$stopped" 2>/dev/null
        done
        sleep 1 3<&- 4>&- >/dev/null 2>&1
        waited=$((waited + 1))
        if [ "$waited" -ge "$patience" ]; then signal=$later; fi
        if [ "$waited" -ge "$((patience + 5))" ]; then signal=KILL; fi
    done
}

(
    line=
    read -r line <&3
    if [ "$line" = stop ]; then
        end "$signal" 600 3<&- 4>&- &
        orderly=$!
        trap 'kill "$orderly" 2>/dev/null; exit' TERM
        line=
        read -r line <&3
        kill "$orderly" 2>/dev/null
    fi
    if [ "$line" = now ]; then end "$later" 0; else end "$signal" 8; fi
) &
watcher=$!
exec 3<&-

wait "$server"
status=$?
echo "ended $status" >&4
kill "$watcher" 2>/dev/null
exit "$status"
