"""What fio-plot reads in the folder `sys.argv[2]` for random reads: JSON on stdout."""
import json
import sys

# Not the package itself, whose first line wants what draws.
sys.path.insert(0, sys.argv[1] + "/fio_plot")
from fiolib import jsonimport, jsonparsing

settings = {
    "rw": "randread",
    "filter": ["read"],
    "iodepth": [1, 2, 4],
    "numjobs": [1, 2, 4],
    "input_directory": [sys.argv[2]],
    "compare_graph": False,
}
files = jsonimport.list_json_files(settings)
rows = jsonparsing.parse_json_data(settings, jsonimport.import_json_dataset(settings, files))
print(json.dumps(rows[0]["data"]))
