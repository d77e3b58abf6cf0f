        ELSIF v_what = 1 THEN
            CASE v_slot
{branches}            END CASE;
            v_seen := SQL%ROWCOUNT;
{commit}
