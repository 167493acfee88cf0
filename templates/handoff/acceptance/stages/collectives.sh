# shellcheck shell=bash
# Collectives in each unit, then in what joins the units.
while read -r id program tasks device gpu hosts; do
    collective "$id" "$program" "$tasks" "$device" "$gpu" "$hosts"
done < lists/collectives.txt
