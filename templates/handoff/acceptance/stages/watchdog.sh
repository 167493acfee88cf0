# shellcheck shell=bash
# A host pauses its switch port for longer than the detection time: the watchdog acts, and restores the queue.
# Several tests can be at one switch, so the readings before them come first.
watchdog_of() {
    save "$RESULTS/watchdog/$1/$2/watchdog.txt" on_switch "$2" "sudo pfcwd show stats"
}

while read -r switch; do
    watchdog_of before "$switch"
done < <(awk '{ print $4 }' lists/watchdog.txt | sort -u)
while read -r _ host nic switch detection_ms priority; do
    # shellcheck disable=SC2086
    $SSH "$host" "sudo timeout 30 python3 - $nic $priority $((detection_ms * 4))" < pfc_storm.py
    sleep 5
    watchdog_of after "$switch"
done < lists/watchdog.txt
