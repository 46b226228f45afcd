package perbyte.jca.loops;

import java.security.GeneralSecurityException;
import javax.crypto.Cipher;
import perbyte.jca.Engines;
import perbyte.sdk.Case;
import perbyte.sdk.Gauge;
import perbyte.sdk.Loop;

/** RSA by {@code Cipher.doFinal} with the private key: PKCS #1 v1.5 of type 1, as in a signature, without a hash. */
public final class RawSign extends Loop {
    private Cipher cipher;

    @Override
    public void open(Case work) throws Exception {
        this.work = work;
        cipher = Engines.cipher(work);
        cipher.init(Cipher.ENCRYPT_MODE, Engines.keyPair(work).getPrivate());
    }

    @Override
    public void run(int n) {
        Cipher cipher = this.cipher;
        byte[] in = work.in;
        byte[] last = result;
        Gauge.before();
        try {
            for (int i = 0; i < n; i++) {
                last = cipher.doFinal(in);
            }
        } catch (GeneralSecurityException | RuntimeException error) {
            failed(error);
        }
        Gauge.after();
        result = last;
        length = last.length;
    }
}
