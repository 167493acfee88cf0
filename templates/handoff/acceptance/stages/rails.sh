# shellcheck shell=bash
# A collective on one rail at a time, with one GPU of each host.
while read -r id program tasks device gpu hosts; do
    collective "$id" "$program" "$tasks" "$device" "$gpu" "$hosts"
done < lists/rails.txt
