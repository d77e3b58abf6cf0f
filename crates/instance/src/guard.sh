# Runs a server and ends it when standard input ends. The other end of that pipe is held by mindful and by nobody else,
# so it closes however mindful dies. A line before the end is an orderly stop, which may take its time to write out what
# is cached, but no longer when mindful ends before the server has. Arguments: the signal that stops the server in order, the one for when that took too long, its command line.
#
# Standard output is a locked file. Guard and server keep it open as long as they live, so that it stays locked. It takes
# the server's process id, and how that process ended.
exec 3<&0 </dev/null 4>&1 >&2

# When mindful dies while a process of this group is stopped, the system hangs up the whole group.
trap '' HUP

signal=$1
later=$2
shift 2
"$@" 3<&- &
server=$!
echo "$server" >&4

(
    patience=8
    if read -r orderly <&3; then patience=600; fi
    waited=0
    # Repeated, because a server that has only just been started does not listen yet.
    while kill "-$signal" "$server" 2>/dev/null; do
        # A process that somebody stopped hears nothing but KILL, and children that are stopped outlive even that.
        for stopped in "$server" $(cat "/proc/$server/task/$server/children" 2>/dev/null); do
            kill -CONT "$stopped" 2>/dev/null
        done
        # Up to a second, or until the pipe closes.
        if [ "$orderly" ] && timeout 1 cat <&3 3<&- 4>&- >/dev/null 2>&1; then
            orderly=
            patience=8
        fi
        [ "$orderly" ] || sleep 1 3<&- 4>&- >/dev/null 2>&1
        waited=$((waited + 1))
        if [ "$waited" -ge "$patience" ]; then signal=$later; fi
        if [ "$waited" -ge "$((patience + 5))" ]; then signal=KILL; fi
    done
) &
watcher=$!
exec 3<&-

wait "$server"
status=$?
echo "ended $status" >&4
kill "$watcher" 2>/dev/null
exit "$status"
